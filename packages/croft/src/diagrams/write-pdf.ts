import { deflateSync } from 'node:zlib';

/** Pixels as they come from the renderer: four bytes each, red, green, blue and alpha. */
export interface Pixels {
  readonly rgba: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** Writes a PDF of one page with one picture on it. `scale` is the number of pixels in a point. */
export function writePdf({ rgba, width, height }: Pixels, scale: number): Buffer {
  const [pageWidth, pageHeight] = [width / scale, height / scale].map((size) => size.toFixed(2));
  const picture = deflateSync(toRgb(rgba));
  const content = `q ${pageWidth} 0 0 ${pageHeight} 0 0 cm /Im0 Do Q`;
  const format = '/ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /FlateDecode';
  return toFile([
    Buffer.from('<< /Type /Catalog /Pages 2 0 R >>'),
    Buffer.from('<< /Type /Pages /Kids [3 0 R] /Count 1 >>'),
    Buffer.from(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${pageWidth} ${pageHeight}] /Contents 4 0 R ` +
        '/Resources << /XObject << /Im0 5 0 R >> >> >>',
    ),
    toStream('', Buffer.from(content)),
    toStream(`/Type /XObject /Subtype /Image /Width ${width} /Height ${height} ${format} `, picture),
  ]);
}

/** Leaves alpha out: the pixels are drawn on white. */
function toRgb(rgba: Uint8Array): Uint8Array {
  const rgb = new Uint8Array((rgba.length / 4) * 3);
  for (let from = 0, to = 0; from < rgba.length; from += 4, to += 3) rgb.set(rgba.subarray(from, from + 3), to);
  return rgb;
}

function toStream(dictionary: string, body: Buffer): Buffer {
  const head = `<< ${dictionary}/Length ${body.length} >>\nstream\n`;
  return Buffer.concat([Buffer.from(head), body, Buffer.from('\nendstream')]);
}

/** Numbers the objects from 1, and ends with the table of where each begins. */
function toFile(objects: readonly Buffer[]): Buffer {
  const parts = [Buffer.from('%PDF-1.4\n%\xE2\xE3\xCF\xD3\n', 'latin1')];
  const offsets: number[] = [];
  let length = parts[0]?.length ?? 0;
  objects.forEach((object, index) => {
    const part = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), object, Buffer.from('\nendobj\n')]);
    offsets.push(length);
    length += part.length;
    parts.push(part);
  });
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${rows}`;
  const end = `${table}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${length}\n%%EOF\n`;
  return Buffer.concat([...parts, Buffer.from(end)]);
}
