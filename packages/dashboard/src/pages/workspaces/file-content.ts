import { send, toSearch } from '../../server/request.ts';

/** The content of a file as the viewer shows it. */
export type ShownFile =
  | {
      readonly kind: 'text';
      readonly lines: readonly string[];
      readonly lineEnd: 'LF' | 'CRLF' | 'mixed';
      readonly size: number;
      /** Only the beginning is here. */
      readonly isCut: boolean;
    }
  | { readonly kind: 'image'; readonly url: string; readonly size: number }
  | { readonly kind: 'binary'; readonly size: number }
  | { readonly kind: 'not-utf8'; readonly size: number };

/** A viewer that reads more keeps a person waiting. */
const mostBytes = 2 * 1024 * 1024;

/** Pixels only. An SVG is a document that can have scripts, and is shown as text. */
const images: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};

export interface FileAddress {
  readonly root: string;
  readonly path: string;
  readonly snapshot: string | undefined;
}

export function toFileUrl({ root, path, snapshot }: FileAddress): string {
  return `${root}/file${toSearch({ path, snapshot })}`;
}

export async function readFileContent(address: FileAddress, signal: AbortSignal): Promise<ShownFile> {
  const headers = { range: `bytes=0-${mostBytes - 1}` };
  const response = await send('GET', toFileUrl(address), { headers, signal }).catch((thrown) => {
    // An empty file has no range.
    if (thrown?.status === 416) return new Response('');
    throw thrown;
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  const [, total] = /\/(\d+)$/.exec(response.headers.get('content-range') ?? '') ?? [];
  return toFileContent(bytes, Number(total ?? bytes.length), address.path);
}

export function toFileContent(bytes: Uint8Array<ArrayBuffer>, size: number, path: string): ShownFile {
  const isCut = bytes.length < size;
  const type = images[path.slice(path.lastIndexOf('.') + 1).toLowerCase()];
  if (type !== undefined && !isCut)
    return { kind: 'image', url: URL.createObjectURL(new Blob([bytes], { type })), size };
  if (bytes.includes(0)) return { kind: 'binary', size };
  const text = decode(bytes, isCut);
  if (text === undefined) return { kind: 'not-utf8', size };
  const lines = text.split(/\r?\n/);
  const [crlf, all] = [text.match(/\r\n/g)?.length ?? 0, text.match(/\n/g)?.length ?? 0];
  const lineEnd = crlf === 0 ? 'LF' : crlf === all ? 'CRLF' : 'mixed';
  if (lines.at(-1) === '') lines.pop();
  return { kind: 'text', lines, lineEnd, size, isCut };
}

function decode(bytes: Uint8Array, isCut: boolean): string | undefined {
  try {
    // A character that was cut at the end is left out.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut });
  } catch {
    return undefined;
  }
}
