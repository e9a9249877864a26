import { setTimeout as pause } from 'node:timers/promises';
import type { Syntax } from '../core/code/syntax.ts';
import type { Files } from '../core/files/files.ts';
import type { ConcurrencyLimit } from '../lib/concurrency/concurrency-limit.ts';
import { type ChangeIntake, type ChangeIntakeOptions, createChangeIntake } from './change-intake.ts';
import type { IndexClient } from './index-client.ts';
import { lockBuilding } from './lock-building.ts';
import { type DueFile, readDueFiles } from './read-due-files.ts';

interface IndexFeedOptions extends ChangeIntakeOptions {
  /** The database of the index. */
  readonly file: string;
  readonly files: Pick<Files, 'read'>;
  readonly syntax: Syntax;
  /** Building takes turns with other workspaces. */
  readonly turns: ConcurrencyLimit;
}

/** How long a search waits for changes to be taken in, and how many files it waits for. */
const patienceMs = 300;
const maxFresh = 200;
const filesPerTurn = 32;
/** How soon the end of another program that builds the index is noticed. */
const lockPauseMs = 250;
/** Ranks are computed again after this many files were read. */
const filesPerRanking = 500;

/** Keeps the index of one workspace up to date with its files. */
export function createIndexFeed(options: IndexFeedOptions) {
  const { client, file, turns, signal } = options;
  const intake = createChangeIntake(options);
  let [unranked, isRanked] = [0, false];
  let building: Promise<void> | undefined;

  /**
   * Reads files that are due until none is left. If another program builds the index, waits until no file is due or
   * that program has ended.
   */
  async function build(): Promise<void> {
    while ((await nextDue()).length > 0) {
      using lock = lockBuilding(file);
      if (lock) await readAllDue();
      else await pause(lockPauseMs, undefined, { signal, ref: false });
    }
    const isLarge = unranked >= filesPerRanking;
    if (isLarge || (!isRanked && unranked > 0)) await rank();
    if (isLarge) await client.ask('tidy', null);
  }

  async function readAllDue(): Promise<void> {
    for (let due = await nextDue(); due.length > 0; due = await nextDue()) {
      const files = due;
      await turns.run(() => readDue(files, signal));
    }
  }

  async function nextDue(): Promise<readonly DueFile[]> {
    if (signal.aborted || client.isFull() || !(await intake.list())) return [];
    return (await client.ask('state', { limit: filesPerTurn }))?.due ?? [];
  }

  async function rank(): Promise<void> {
    [unranked, isRanked] = [0, true];
    await client.ask('rank', null);
  }

  async function readDue(due: readonly DueFile[], until: AbortSignal): Promise<void> {
    const read = await readDueFiles(due, { ...options, signal: until });
    unranked += read.length;
    await client.ask('store', { files: read });
  }

  /** Starts to build behind the answers, unless the index is being built. */
  function startBuilding(): void {
    building ??= build()
      .catch(() => {})
      .finally(() => {
        building = undefined;
      });
  }

  async function takeIn(deadline: AbortSignal): Promise<readonly DueFile[] | undefined> {
    if (!(await isKnown(client, intake, deadline))) return undefined;
    const due = await listDue(client);
    if (due.length === 0 || due.length > maxFresh) return due.length === 0 ? [] : undefined;
    await unlessLate(readDue(due, deadline), deadline);
    return listDue(client);
  }

  return {
    /** Returns the files that are not as the index has them, or `undefined` if those are too many or not known. */
    refresh(): Promise<readonly DueFile[] | undefined> {
      return takeIn(AbortSignal.any([signal, AbortSignal.timeout(patienceMs)])).finally(startBuilding);
    },
    /** As `refresh`, but waits until the index is built, or the time is over. */
    async built(deadline: AbortSignal): Promise<readonly DueFile[] | undefined> {
      for (;;) {
        const due = await this.refresh();
        if (due?.length === 0 || deadline.aborted || !building) return due;
        await unlessLate(building, deadline);
      }
    },
    /** Resolves when nothing is being built. */
    idle: async (): Promise<void> => building,
  };
}

/** Whether the index knows all files of the workspace, and which of them have changed. */
async function isKnown(client: IndexClient, intake: ChangeIntake, deadline: AbortSignal): Promise<boolean | undefined> {
  if (!(await unlessLate(intake.take(), deadline))) return false;
  const state = await client.ask('state', { limit: 1 });
  if (state?.isListed) return unlessLate(intake.list(), deadline);
  if (state) intake.forget();
  return false;
}

async function listDue(client: IndexClient): Promise<readonly DueFile[]> {
  return (await client.ask('state', { limit: maxFresh + 1 }))?.due ?? [];
}

/** Resolves with `undefined` when the time is over. The work goes on. */
async function unlessLate<T>(work: Promise<T>, deadline: AbortSignal): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const end = () => late.resolve(undefined);
  deadline.addEventListener('abort', end, { once: true });
  if (deadline.aborted) end();
  try {
    return await Promise.race([work.catch(() => undefined), late.promise]);
  } finally {
    deadline.removeEventListener('abort', end);
  }
}
