import type { ReadStream, WriteStream } from 'node:tty';
import { AppError, type Approval } from '@croft/protocol';
import type { ApprovalEvent } from '@croft/sdk';
import type { CommandContext } from '../command.ts';
import { toCell } from '../output/print-rows.ts';
import type { ApprovalDecision, ApprovalSource } from './approval-source.ts';
import { renderApproval } from './render-approval.ts';

type Printed = Pick<CommandContext, 'stdin' | 'stdout' | 'stderr' | 'stop'>;

/** Whether a person sits there, who can be asked. */
export function canAsk({ stdin, stdout }: Pick<CommandContext, 'stdin' | 'stdout'>): boolean {
  return (stdin as Partial<ReadStream>).isTTY === true && (stdout as Partial<WriteStream>).isTTY === true;
}

/** Prints what happens to approvals, a line each, until the program is stopped. */
export async function printEvents(source: ApprovalSource, terminal: Printed, isJson: boolean): Promise<void> {
  for await (const { type, approval } of source.watch(terminal.stop)) {
    const { approvalId, tool, workspace, preview } = approval;
    const cells = [type, approvalId, tool, workspace, preview.slice(0, 200)].map(toCell);
    terminal.stdout.write(`${isJson ? JSON.stringify({ type, approval }) : cells.join('\t')}\n`);
  }
}

/** A key that was pressed before the person can have read the question decides nothing, nor does one that is held. */
const readingMs = 400;
const decisions: Readonly<Record<string, ApprovalDecision>> = {
  a: { decision: 'approve', scope: 'once' },
  s: { decision: 'approve', scope: 'session' },
  d: { decision: 'deny' },
};
const question = 'a approve · s approve for the session · d deny · n later · q quit ';

/** Asks the person at the terminal about one approval after the other, until the person ends it. */
export async function askAtTerminal(source: ApprovalSource, terminal: Printed): Promise<void> {
  const { stdout, stop } = terminal;
  const ended = new AbortController();
  const signal = AbortSignal.any([stop, ended.signal]);
  using keys = openKeys(terminal, (key) => void onKey(key).catch(ended.abort.bind(ended)));
  const waiting: Approval[] = [];
  let asked: { readonly approval: Approval; readonly at: number; isDecided: boolean } | undefined;
  stdout.write('waiting for approvals; q ends it\n');
  for await (const event of source.watch(signal)) onEvent(event);
  keys.end();
  if (ended.signal.reason instanceof Error && ended.signal.reason.name !== 'AbortError') throw ended.signal.reason;

  function onEvent({ type, approval }: ApprovalEvent): void {
    if (type === 'pending') waiting.push(approval);
    else if (asked?.approval.approvalId === approval.approvalId) {
      if (!asked.isDecided) stdout.write(`\n${approval.state} by ${toCell(approval.decidedBy ?? 'somebody else')}\n`);
      asked = undefined;
    } else remove(waiting, approval);
    askNext();
  }

  function askNext(): void {
    const approval = asked ? undefined : waiting.shift();
    if (!approval) return;
    asked = { approval, at: Date.now(), isDecided: false };
    const more = waiting.length === 0 ? '' : `(${waiting.length} more) `;
    stdout.write(`\n${renderApproval(approval)}${question}${more}`);
  }

  async function onKey(key: string): Promise<void> {
    // Raw mode makes no signal of Ctrl-C.
    if (key === '\u0003') process.kill(process.pid, 'SIGINT');
    else if (key === 'q' || key === '\u0004') ended.abort();
    else if (asked && !asked.isDecided && Date.now() - asked.at >= readingMs) await answer(asked, key);
  }

  async function answer(one: NonNullable<typeof asked>, key: string): Promise<void> {
    const decision = decisions[key];
    if (!decision && key !== 'n') return;
    if (decision) await decide(one, decision);
    else stdout.write('later\n');
    // The event of the decision may have come first, and the next question with it.
    if (asked === one) asked = undefined;
    askNext();
  }

  async function decide(one: NonNullable<typeof asked>, decision: ApprovalDecision): Promise<void> {
    one.isDecided = true;
    const { approvalId } = one.approval;
    const { state } = await source.decide(approvalId, decision).catch((thrown) => {
      // Somebody else was quicker.
      if (AppError.is(thrown) && thrown.code === 'E_APPROVAL_SETTLED') return source.get(approvalId);
      throw thrown;
    });
    stdout.write(`${state}\n`);
  }
}

function remove(waiting: Approval[], { approvalId }: Approval): void {
  const at = waiting.findIndex((one) => one.approvalId === approvalId);
  if (at >= 0) waiting.splice(at, 1);
}

/** Single keys of the terminal. */
function openKeys({ stdin }: Printed, onKey: (key: string) => void) {
  const input = stdin as Partial<ReadStream>;
  const onData = (bytes: Buffer) => {
    for (const key of bytes.toString('latin1')) onKey(key.toLowerCase());
  };
  input.setRawMode?.(true);
  stdin.on('data', onData);
  const end = () => {
    stdin.off('data', onData);
    input.setRawMode?.(false);
    stdin.pause();
  };
  return { end, [Symbol.dispose]: end };
}
