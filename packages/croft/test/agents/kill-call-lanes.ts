import { expect } from 'vitest';
import { type Account, mustBe } from '../support/servers/platform.ts';
import type { Lane } from './kill-lanes.ts';

/** Writes a file and edits it in turn, in a session that others use at the same time. */
export function fileLane(agent: string, path: string): Lane {
  const trail: string[] = [];
  let changes = 0;
  let [kept, underWay]: [string | undefined, string | undefined] = [undefined, undefined];
  const toText = (line: string) => `${path} ${changes}\n${line.repeat(500)}`;

  return {
    trail,
    async step(account) {
      changes += 1;
      const isEdit = kept !== undefined && changes % 2 === 0;
      const [head = '', ...rest] = kept?.split('\n') ?? [];
      underWay = isEdit ? [`${path} ${changes}`, ...rest].join('\n') : toText(`line of ${changes}\n`);
      const edit = { old_string: head, new_string: `${path} ${changes}` };
      const tool = isEdit ? 'edit' : 'write';
      mustBe(200, await account.call(agent, tool, { file_path: path, ...(isEdit ? edit : { content: underWay }) }));
      trail.push(`call.began ${tool}`, `call.ended ${tool}`);
      [kept, underWay] = [underWay, undefined];
    },
    async resolveAfterKill(account) {
      const answer = await account.call(agent, 'read', { file_path: path, limit: 2000 });
      const actual = answer.status === 404 ? undefined : mustBe(200, answer).content;
      expect(actual === kept || actual === underWay, `${path} holds ${actual?.slice(0, 40)}`).toBe(true);
      [kept, underWay] = [actual, undefined];
    },
  };
}

export function memoryLane(agent: string): Lane {
  const [trail, saved]: [string[], string[]] = [[], []];
  let count = 0;
  return {
    trail,
    async step(account) {
      const title = `fact-${++count}`;
      mustBe(200, await account.call(agent, 'memory_save', { title, content: `about ${title}` }));
      saved.push(title);
      trail.push('call.ended memory_save');
    },
    async resolveAfterKill(account) {
      if (saved.length === 0) return;
      const { content } = mustBe(200, await account.call(agent, 'read', { file_path: 'MEMORY.md', limit: 2000 }));
      for (const title of saved) expect(content.split(`## ${title}\n\nabout ${title}\n`)).toHaveLength(2);
    },
  };
}

/** Asks for approval, is approved, and runs once. A used approval stays used, and a call that ran used its approval. */
export function approvalLane(agent: string, name: string): Lane {
  interface Asked {
    readonly approvalId: string;
    readonly line: string;
    /** The last state that was acknowledged, and the state that a request in flight may have reached. */
    readonly state: 'pending' | 'approved' | 'used';
    readonly next?: 'approved' | 'used';
  }
  const trail: string[] = [];
  const all = new Map<string, Asked>();
  let count = 0;
  const callOf = ({ line }: Pick<Asked, 'line'>) => ({ command: `echo ${line} >> ${name}.log` });
  const claim = (account: Account, asked: Asked) =>
    account.call(agent, 'bash', callOf(asked), { 'croft-approval': asked.approvalId, 'croft-session': name });

  async function step(account: Account): Promise<void> {
    const line = `${name}-${++count}`;
    const answer = await account.call(agent, 'bash', callOf({ line }), { 'croft-session': name });
    const { approvalId } = mustBe(202, answer).approval;
    const asked = { approvalId, line };
    all.set(approvalId, { ...asked, state: 'pending', next: 'approved' });
    trail.push(`approval.requested ${approvalId}`);
    mustBe(200, await account.approve(approvalId));
    all.set(approvalId, { ...asked, state: 'approved', next: 'used' });
    trail.push(`approval.approved ${approvalId}`);
    mustBe(200, await claim(account, { ...asked, state: 'approved' }));
    all.set(approvalId, { ...asked, state: 'used' });
    trail.push(`approval.used ${approvalId}`, 'call.ended bash');
  }

  async function checkOne(account: Account, asked: Asked, lines: readonly string[]): Promise<void> {
    const { approval } = mustBe(200, await account.send('GET', `/v1/approvals/${asked.approvalId}`));
    expect([asked.state, asked.next]).toContain(approval.state);
    const times = lines.filter((line) => line === asked.line).length;
    if (approval.state !== 'used') expect(times).toBe(0);
    else if (asked.state === 'used') expect(times).toBe(1);
    else expect(times).toBeLessThan(2);
    if (approval.state === 'used') {
      expect((await claim(account, asked)).body.error.code).toBe('E_APPROVAL_MISMATCH');
      all.set(asked.approvalId, { approvalId: asked.approvalId, line: asked.line, state: 'used' });
      // An acknowledged approval is checked once. One that was not acknowledged ran at most once, and is not counted
      // again.
      if (times === 0) all.delete(asked.approvalId);
    } else if (approval.state === 'approved') {
      mustBe(200, await claim(account, asked));
      all.set(asked.approvalId, { approvalId: asked.approvalId, line: asked.line, state: 'used' });
    }
  }

  return {
    trail,
    step,
    async resolveAfterKill(account) {
      const inSession = { 'croft-session': name };
      const answer = await account.call(agent, 'read', { file_path: `${name}.log`, limit: 2000 }, inSession);
      const lines: string[] = answer.status === 404 ? [] : mustBe(200, answer).content.split('\n');
      for (const asked of [...all.values()]) await checkOne(account, asked, lines);
      for (const line of lines.filter((each) => each !== ''))
        expect([...all.values()].map((asked) => asked.line)).toContain(line);
    },
  };
}
