//! A page of PDF to draw on: lines, boxes, circles and text in one of the fonts that every reader has (ISO 32000-1 §9.6.2.2).

use std::convert::Infallible;

use pdf_writer::types::LineCapStyle;
use pdf_writer::{Content, Finish, Name, Pdf, Rect, Ref, Str};
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontTransform,
};

type Done = Result<(), DrawingErrorKind<Infallible>>;

const FONT: Name<'static> = Name(b"F");
/// A circle of four curves: how far their handles are, of the radius.
const HANDLE: f32 = 0.5523;
/// Widths of Helvetica's printable ASCII, of 1000 for each unit of size (Adobe's font metrics).
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];

/// The page. What is drawn becomes a document when it is presented.
pub(super) struct Backend<'a> {
    out: &'a mut Vec<u8>,
    size: (u32, u32),
    content: Content,
}

impl<'a> Backend<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>, size: (u32, u32)) -> Self {
        Self {
            out,
            size,
            content: Content::new(),
        }
    }

    /// PDF counts from below.
    fn at(&self, (x, y): BackendCoord) -> (f32, f32) {
        (x as f32, self.size.1 as f32 - y as f32)
    }

    fn stroke(&mut self, style: &impl BackendStyle) {
        let [r, g, b] = on_white(style.color());
        self.content.set_stroke_rgb(r, g, b);
        self.content.set_line_width(style.stroke_width() as f32);
    }

    fn fill(&mut self, color: BackendColor) {
        let [r, g, b] = on_white(color);
        self.content.set_fill_rgb(r, g, b);
    }

    fn path(&mut self, points: impl IntoIterator<Item = BackendCoord>) {
        for (n, point) in points.into_iter().enumerate() {
            let (x, y) = self.at(point);
            match n {
                0 => self.content.move_to(x, y),
                _ => self.content.line_to(x, y),
            };
        }
    }

    fn document(&mut self) -> Vec<u8> {
        let [catalog, pages, page, font, content] = [1, 2, 3, 4, 5].map(Ref::new);
        let mut pdf = Pdf::new();
        pdf.catalog(catalog).pages(pages);
        pdf.pages(pages).kids([page]).count(1);
        let mut first = pdf.page(page);
        first.media_box(Rect::new(0.0, 0.0, self.size.0 as f32, self.size.1 as f32));
        first.parent(pages).contents(content);
        first.resources().fonts().pair(FONT, font);
        first.finish();
        pdf.type1_font(font)
            .base_font(Name(b"Helvetica"))
            .encoding_predefined(Name(b"WinAnsiEncoding"));
        let written = std::mem::replace(&mut self.content, Content::new()).finish();
        pdf.stream(content, &written);
        pdf.finish()
    }
}

/// Without transparency: what a colour looks like over white.
fn on_white(color: BackendColor) -> [f32; 3] {
    let (r, g, b) = color.rgb;
    [r, g, b].map(|part| {
        let part = f64::from(part) / 255.0;
        (1.0 - color.alpha * (1.0 - part)) as f32
    })
}

/// WinAnsi's bytes of a text (ISO 32000-1 Annex D): Latin-1, with `?` for what it does not have.
fn encoded(text: &str) -> Vec<u8> {
    let byte = |c: char| u8::try_from(u32::from(c)).unwrap_or(b'?');
    text.chars().map(byte).collect()
}

fn width(text: &str, size: f64) -> f64 {
    let of = |byte: &u8| {
        let at = byte.checked_sub(b' ').map(usize::from);
        f64::from(at.and_then(|at| WIDTHS.get(at)).copied().unwrap_or(556))
    };
    encoded(text).iter().map(of).sum::<f64>() * size / 1000.0
}

impl DrawingBackend for Backend<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Done {
        Ok(())
    }

    fn present(&mut self) -> Done {
        *self.out = self.document();
        Ok(())
    }

    fn draw_pixel(&mut self, point: BackendCoord, color: BackendColor) -> Done {
        self.draw_rect(point, (point.0 + 1, point.1 + 1), &color, true)
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Done {
        self.draw_path([from, to], style)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Done {
        if style.color().alpha > 0.0 {
            self.stroke(style);
            self.content.set_line_cap(LineCapStyle::ButtCap);
            self.path(path);
            self.content.stroke();
        }
        Ok(())
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        upper_left: BackendCoord,
        bottom_right: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Done {
        let ((left, top), (right, bottom)) = (upper_left, bottom_right);
        let corners = [(left, top), (right, top), (right, bottom), (left, bottom)];
        match fill {
            true => self.fill_polygon(corners, style),
            false => self.draw_path(corners.into_iter().chain([upper_left]), style),
        }
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> Done {
        if style.color().alpha > 0.0 {
            self.fill(style.color());
            self.path(corners);
            self.content.close_path().fill_nonzero();
        }
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Done {
        let (x, y) = self.at(center);
        let (r, h) = (radius as f32, radius as f32 * HANDLE);
        self.stroke(style);
        self.fill(style.color());
        self.content
            .move_to(x + r, y)
            .cubic_to(x + r, y + h, x + h, y + r, x, y + r)
            .cubic_to(x - h, y + r, x - r, y + h, x - r, y)
            .cubic_to(x - r, y - h, x - h, y - r, x, y - r)
            .cubic_to(x + h, y - r, x + r, y - h, x + r, y);
        match fill {
            true => self.content.fill_nonzero(),
            false => self.content.stroke(),
        };
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, pos: BackendCoord) -> Done {
        let size = style.size();
        let anchor = style.anchor();
        let wide = width(text, size) as f32;
        let along = match anchor.h_pos {
            HPos::Left => 0.0,
            HPos::Right => -wide,
            HPos::Center => -wide / 2.0,
        };
        // From the anchor down to the base line: capitals are some seven tenths of the size.
        let down = size as f32
            * match anchor.v_pos {
                VPos::Top => 0.8,
                VPos::Center => 0.35,
                VPos::Bottom => 0.0,
            };
        let (x, y) = self.at(pos);
        // Turned clockwise, as plotters means it.
        let (cos, sin) = match style.transform() {
            FontTransform::Rotate90 => (0.0, -1.0),
            FontTransform::Rotate180 => (-1.0, 0.0),
            FontTransform::Rotate270 => (0.0, 1.0),
            _ => (1.0, 0.0),
        };
        let (x, y) = (x + along * cos + down * sin, y + along * sin - down * cos);
        self.fill(style.color());
        self.content
            .begin_text()
            .set_font(FONT, size as f32)
            .set_text_matrix([cos, sin, -sin, cos, x, y])
            .show(Str(&encoded(text)))
            .end_text();
        Ok(())
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let size = style.size();
        Ok((width(text, size).ceil() as u32, size.ceil() as u32))
    }

    fn blit_bitmap(&mut self, _: BackendCoord, _: (u32, u32), _: &[u8]) -> Done {
        Ok(())
    }
}
