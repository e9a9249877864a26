import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { namespaceOf } from '../../src/storages/index.ts';
import { listTree } from '../history/fixture.ts';
import { type Account, type Answer, mustBe, type Platform } from '../support/servers/platform.ts';

export const megabyte = 1024 * 1024;
export const text = (length: number) => 'x'.repeat(length);

/** Creates a workspace of an account, with an agent that may do everything in it. */
export async function newWorkspace(platform: Pick<Platform, 'data'>, account: Account, config: object = {}) {
  const workspaceId = await account.newWorkspace(config);
  const sandbox = await account.newSandbox({ permissionMode: 'bypass' });
  const agent = await account.newAgent({ sandbox, workspaces: [{ name: 'w', workspaceId }] });
  const directory = join(platform.data, 'workspaces', namespaceOf(account.accountId, workspaceId));
  const call = (tool: string, input: object = {}) => account.call(agent, tool, input);
  const listAll = () => (existsSync(directory) ? listTree(directory) : {});
  return {
    ...{ workspaceId, agent, directory, call, listAll },
    bash: (command: string) => call('bash', { command }),
    async put(path: string, size: number): Promise<number> {
      const answer = await fetch(new URL(`/v1/workspaces/${workspaceId}/file?path=${path}`, account.url), {
        method: 'PUT',
        headers: { authorization: `Bearer ${account.secret}`, 'content-type': 'application/octet-stream' },
        body: Buffer.alloc(size, 'x'),
      });
      await answer.body?.cancel();
      return answer.status;
    },
    async setQuota(bytes: number): Promise<void> {
      mustBe(200, await account.send('PATCH', `/v1/workspaces/${workspaceId}`, { config: { quota: { bytes } } }));
    },
    /** Expects a refusal for its size that changes nothing. */
    async expectRefused(calling: () => Promise<Answer>) {
      const before = listAll();
      const { body } = await calling();
      expect(body.error, JSON.stringify(body).slice(0, 300)).toMatchObject({ code: 'E_QUOTA' });
      expect(listAll()).toEqual(before);
      return body.error;
    },
    /** Returns the newest checkpoint of a tool. */
    async newest(tool: string): Promise<string> {
      const { checkpoints } = mustBe(200, await call('undo_list', { limit: 50 }));
      return checkpoints.find((one: { tool: string }) => one.tool === tool).checkpoint;
    },
  };
}
