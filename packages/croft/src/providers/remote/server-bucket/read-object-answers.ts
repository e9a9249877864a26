import type { z } from 'zod';
import type { ObjectHead } from '../../../core/storage/object-store.ts';
import { createByteLineSplitter } from '../../../lib/text/lines/byte-line-splitter.ts';
import { withIdleTimeout } from '../../../link/calls/bounded-streams.ts';
import * as methods from '../../../link/methods/objects.ts';
import { parseAnswer, type RpcCall } from '../rpc/rpc-client.ts';
import { invalidAnswer } from '../rpc/runner-errors.ts';
import { throwStorageFailure } from './throw-storage-failure.ts';

const { channels } = methods;

/**
 * Yields the bytes of an object. Throws unless exactly `size` bytes arrive, because a stream that was cut looks as if
 * it had ended.
 */
export async function* bodyOf(asked: RpcCall<null>, size: number, idleMs: number): AsyncGenerator<Buffer> {
  let left = size;
  try {
    for await (const piece of withIdleTimeout(asked.readable(channels.answer), idleMs)) {
      left -= piece.length;
      if (left < 0) throw invalidAnswer(asked.method, `more than ${size} bytes`);
      yield piece;
    }
    await asked.answer;
    if (left !== 0) throw invalidAnswer(asked.method, `fewer than ${size} bytes`);
  } catch (thrown) {
    throwStorageFailure(thrown);
  }
}

/** Sends no request before the first page is read. */
export async function* pagesOf(
  ask: () => RpcCall<null>,
  idleMs: number,
): AsyncGenerator<Omit<ObjectHead, 'metadata'>[]> {
  const asked = ask();
  const lines: Buffer[] = [];
  const cut = createByteLineSplitter(
    methods.maxPageBytes,
    (line) => lines.push(line),
    () => asked.cancel(invalidAnswer(asked.method, 'a page without an end')),
  );
  try {
    for await (const piece of withIdleTimeout(asked.readable(channels.answer), idleMs)) {
      cut(piece);
      for (const line of lines.splice(0)) yield toPage(line, asked.method);
    }
    await asked.answer;
  } catch (thrown) {
    throwStorageFailure(thrown);
  } finally {
    asked.cancel(new Error('the reader closed it'));
  }
}

function toPage(line: Buffer, method: string): Omit<ObjectHead, 'metadata'>[] {
  const page = parseAnswer(methods.ObjectsPage, JSON.parse(line.toString()), method);
  return page.map(({ modifiedMs, ...listed }) => ({ ...listed, modifiedAt: new Date(modifiedMs) }));
}

export function toHead({ modifiedMs, ...head }: z.output<typeof methods.ObjectHead>): ObjectHead {
  return { ...head, modifiedAt: new Date(modifiedMs) };
}
