import { cutText } from '../../lib/text/cut-text.ts';
import type { ApprovalRow } from '../accounts/ports/call-tables.ts';
import type { ApprovalView } from '../accounts/ports/registry.ts';
import type { Vault } from '../accounts/ports/vault.ts';
import { cutVisible } from './visible-text.ts';

/** The sealed part of an approval. */
interface ApprovalContent {
  readonly input: unknown;
  readonly preview: string;
  /** The session whose person is asked, if it is not the calling session. */
  readonly inbox?: string | undefined;
  readonly setting?: ApprovalView['setting'];
}

type ContentOf = Pick<ApprovalRow, 'accountId' | 'approvalId'>;

const maxInputChars = 256 * 1024;
const maxPreviewChars = 64 * 1024;

/** Seals the content, shortened to what a person can read. A call is identified by its hash, never by this content. */
export function sealContent(vault: Vault, of: ContentOf, { input, preview, ...more }: ApprovalContent): string {
  const content = { input: capInput(input, maxInputChars), preview: cutVisible(preview, maxPreviewChars), ...more };
  return vault.seal(JSON.stringify(content), about(of));
}

export function openContent(vault: Vault, row: ApprovalRow): ApprovalContent {
  return JSON.parse(vault.open(row.content, about(row))) as ApprovalContent;
}

export function toApprovalView(vault: Vault, row: ApprovalRow): ApprovalView {
  const { accountId: _, content: __, version: ___, ...rest } = row;
  const { input, preview, inbox, setting } = openContent(vault, row);
  return { ...rest, input, preview, ...(inbox !== undefined && { inbox }), ...(setting && { setting }) };
}

function about({ accountId, approvalId }: ContentOf): string {
  return `approvals/${accountId}/${approvalId}`;
}

/** Shortens an input to about `maxChars` characters of JSON. A note replaces each omitted part. */
function capInput(input: unknown, maxChars: number): unknown {
  if ((JSON.stringify(input) ?? '').length <= maxChars) return input;
  return cap(input, { left: maxChars });
}

function cap(value: unknown, budget: { left: number }): unknown {
  if (typeof value === 'string') return capString(value, budget);
  budget.left -= 8;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return capItems(value, budget, (item) => cap(item, budget));
  const entries = capItems(
    Object.entries(value),
    budget,
    ([key, item]) => [capString(key, budget), cap(item, budget)] as const,
  );
  return Object.fromEntries(entries.map((entry) => (typeof entry === 'string' ? ['…', entry] : entry)));
}

function capString(text: string, budget: { left: number }): string {
  const shown = cutText(text, Math.max(budget.left, 0));
  budget.left -= shown.length;
  return shown.length === text.length ? text : `${shown}… (${text.length - shown.length} more characters)`;
}

function capItems<Item, Capped>(
  items: readonly Item[],
  budget: { left: number },
  capItem: (item: Item) => Capped,
): (Capped | string)[] {
  const capped: (Capped | string)[] = [];
  for (const [index, item] of items.entries()) {
    if (budget.left <= 0) return [...capped, `(${items.length - index} more)`];
    capped.push(capItem(item));
  }
  return capped;
}
