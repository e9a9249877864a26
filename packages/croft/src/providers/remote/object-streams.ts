import type { z } from 'zod';
import type { ObjectHead } from '../../core/objects.ts';
import { createLineCutter } from '../../lib/text/message-lines.ts';
import { steadily } from '../../link/methods/body.ts';
import * as methods from '../../link/methods/objects.ts';
import { type Asked, parse } from './asking.ts';
import { nonsense } from './nonsense.ts';
import { toStorageFailure } from './storage-failure.ts';

const { channels } = methods;

/** Ends where all of it has come, and in an error before that: what was cut looks as if it had ended. */
export async function* bodyOf(asked: Asked<null>, size: number, idleMs: number): AsyncGenerator<Buffer> {
  let left = size;
  try {
    for await (const piece of steadily(asked.readable(channels.answer), idleMs)) {
      left -= piece.length;
      if (left < 0) throw nonsense(asked.method, `more than ${size} bytes`);
      yield piece;
    }
    await asked.answer;
    if (left !== 0) throw nonsense(asked.method, `fewer than ${size} bytes`);
  } catch (thrown) {
    toStorageFailure(thrown);
  }
}

/** Nothing is asked for before somebody looks. */
export async function* pagesOf(ask: () => Asked<null>, idleMs: number): AsyncGenerator<Omit<ObjectHead, 'metadata'>[]> {
  const asked = ask();
  const lines: Buffer[] = [];
  const cut = createLineCutter(
    methods.maxPageBytes,
    (line) => lines.push(line),
    () => asked.takeBack(nonsense(asked.method, 'a page without an end')),
  );
  try {
    for await (const piece of steadily(asked.readable(channels.answer), idleMs)) {
      cut(piece);
      for (const line of lines.splice(0)) yield toPage(line, asked.method);
    }
    await asked.answer;
  } catch (thrown) {
    toStorageFailure(thrown);
  } finally {
    asked.takeBack(new Error('nobody reads it any more'));
  }
}

function toPage(line: Buffer, method: string): Omit<ObjectHead, 'metadata'>[] {
  const page = parse(methods.ObjectsPage, JSON.parse(line.toString()), method);
  return page.map(({ modifiedMs, ...listed }) => ({ ...listed, modifiedAt: new Date(modifiedMs) }));
}

export function toHead({ modifiedMs, ...head }: z.output<typeof methods.ObjectHead>): ObjectHead {
  return { ...head, modifiedAt: new Date(modifiedMs) };
}
