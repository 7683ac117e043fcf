#include "Vtb.h"
#include "verilated.h"
#include <cstdio>
#include <cstdlib>
double sc_time_stamp(){return 0;}
int main(int c,char**v){Verilated::commandArgs(c,v);Vtb*t=new Vtb;t->LAT=atoi(v[1]);t->FLOWS=atoi(v[2]);t->PERIOD=atoi(v[3]);t->clk_i=0;t->rst_ni=1;t->eval();t->rst_ni=0;int s0=0;const int N=90000;
 for(int i=0;i<N;i++){ if(i==10)t->rst_ni=1; t->clk_i=1;t->eval();t->clk_i=0;t->eval(); if(i==N-20000)s0=t->sends_o; if(Verilated::gotFinish())break;}
 printf("sends %d, last 20000 cycles: %.2f cycles each, errors %d\n",t->sends_o,20000.0/(t->sends_o-s0),t->errors_o);}
