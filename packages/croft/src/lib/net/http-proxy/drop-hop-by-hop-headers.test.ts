import { expect, test } from 'vitest';
import { dropHopByHopHeaders, headerValues } from './drop-hop-by-hop-headers.ts';

test('drops the headers of this hop in any case, and keeps the others as they came, duplicates too', () => {
  const kept = ['Accept', '*/*', 'Set-Cookie', 'a=1', 'set-cookie', 'b=2', 'Content-Length', '3'];
  const dropped = [
    ...[
      'Connection',
      'keep-alive, X-Mine',
      'x-mine',
      '1',
      'Keep-Alive',
      'timeout=5',
      'TE',
      'trailers',
      'Upgrade',
      'h2c',
    ],
    ...['Proxy-Authorization', 'Basic c2VjcmV0', 'Proxy-Connection', 'close', 'Proxy-Anything', '1', 'Trailer', 'x'],
    ...['Transfer-Encoding', 'chunked', 'Expect', '100-continue'],
  ];
  expect(dropHopByHopHeaders([...dropped, ...kept])).toEqual(kept);
});

test('the length of a body cannot be listed as a header of this hop', () => {
  expect(dropHopByHopHeaders(['Connection', 'close, Content-Length', 'Content-Length', '3'])).toEqual([
    'Content-Length',
    '3',
  ]);
});

test('finds every value of a header', () => {
  expect(headerValues(['Host', 'a', 'X', 'y', 'hOST', 'b'], 'host')).toEqual(['a', 'b']);
});
