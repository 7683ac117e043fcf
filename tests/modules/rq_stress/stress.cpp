#include "Vst.h"
#include "verilated.h"
#include <cstdio>
#include <cstdlib>
double sc_time_stamp(){return 0;}
int main(int c,char**v){Verilated::commandArgs(c,v);Vst*t=new Vst;t->LAT=atoi(v[1]);t->FLOWS=atoi(v[2]);t->BAD=atoi(v[3]);t->clk_i=0;t->rst_ni=1;t->eval();t->rst_ni=0;int s0=0;const int N=400000;
 for(int i=0;i<N;i++){ if(i==10)t->rst_ni=1; t->clk_i=1;t->eval();t->clk_i=0;t->eval(); if(i==N-20000)s0=t->sends_o; if(Verilated::gotFinish())break;}
 printf("bads %d flushes %d; sends %d, last 20000 cycles: %.2f cycles each, errors %d\n",t->bads_o,t->flushes_o,t->sends_o,20000.0/(t->sends_o-s0),t->errors_o);}
