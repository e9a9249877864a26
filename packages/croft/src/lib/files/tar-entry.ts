/** Returns one file as a tar entry that every tar reads. The name must be ASCII, at most a hundred characters. */
export function toTarEntry(name: string, text: string): Buffer {
  const content = Buffer.from(text);
  const header = Buffer.alloc(512);
  header.write(name, 0, 100, 'ascii');
  header.write('0000644\0', 100);
  header.write('0001750\0', 108);
  header.write('0001750\0', 116);
  header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write(`${'0'.repeat(11)}\0`, 136);
  header.write(' '.repeat(8), 148);
  header.write('0', 156);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([header, content, Buffer.alloc(-content.length & 511)]);
}
