import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { namespaceOf } from '../../src/storages/index.ts';
import { asOtherTool } from '../support/s3/mount-fixture.ts';
import { startS3Gateway } from '../support/s3/s3-server.ts';
import { type Account, mustBe, type Platform, startPlatform } from '../support/servers/platform.ts';

const gateway = await startS3Gateway();
afterAll(() => gateway?.stop());

describe.skipIf(!gateway)('a workspace in a bucket of the account’s own', () => {
  let [platform, account, bucket]: [Platform?, Account?, string?] = [];

  beforeAll(async () => {
    bucket = await gateway!.bucket('own');
    platform = await startPlatform([], { CROFT_S3_ALLOW_PRIVATE: '1' });
    account = await platform.newAccount();
  });
  afterAll(() => platform?.[Symbol.asyncDispose]());

  /** One with a file in it, that no agent has. */
  async function newWorkspace(secretName: string) {
    const { endpoint, region, accessKeyId, secretAccessKey } = gateway!;
    const prefix = randomBytes(4).toString('hex');
    mustBe(200, await account!.send('PUT', `/v1/secrets/${secretName}`, { value: secretAccessKey }));
    const auth = { type: 'secret', accessKeyId, secretName };
    const storage = { provider: 's3', bucket, endpoint, region, prefix, forcePathStyle: true, auth };
    const id = await account!.newWorkspace({ storage });
    const file = new URL(`/v1/workspaces/${id}/file?path=kept`, account!.url);
    const headers = { authorization: `Bearer ${account!.secret}`, 'content-type': 'application/octet-stream' };
    expect((await fetch(file, { method: 'PUT', headers, body: 'kept' })).status).toBe(201);
    const namespace = namespaceOf(account!.accountId, id);
    const outside = asOtherTool({ ...gateway!, bucket: bucket!, prefix, namespace });
    return { id, namespace, outside };
  }

  const remove = (path: string) => account!.send('DELETE', path);

  test('needs its secret: deleting the secret names its users, and works after they are gone', async () => {
    const { id, outside } = await newWorkspace('FIRST_KEY');
    const refused = await remove('/v1/secrets/FIRST_KEY');
    expect(refused).toMatchObject({
      status: 409,
      body: { error: { code: 'E_IN_USE', details: { usedBy: [{ id }] } } },
    });
    expect(refused.body.error.message).toContain(id);
    expect((await remove('/v1/secrets/NO_KEY')).status).toBe(404);
    expect((await remove('/v1/secrets/FIRST_KEY')).status).toBe(409);
    mustBe(200, await remove(`/v1/workspaces/${id}`));
    expect(await outside.keys()).toEqual([]);
    mustBe(200, await remove('/v1/secrets/FIRST_KEY'));
  });

  test('is not reported as deleted while its objects cannot be, and the error names what is left', async () => {
    const { id, namespace, outside } = await newWorkspace('SECOND_KEY');
    mustBe(200, await account!.send('PUT', '/v1/secrets/SECOND_KEY', { value: 'of another key' }));
    const refused = await remove(`/v1/workspaces/${id}`);
    expect(refused).toMatchObject({
      status: 503,
      body: {
        error: { code: 'E_STORAGE_FAILED', details: { workspaceId: id, left: [expect.anything(), `${namespace}/`] } },
      },
    });
    expect(refused.body.error.message).toMatch(/is not deleted/);
    mustBe(200, await account!.send('GET', `/v1/workspaces/${id}`));
    expect(await outside.all()).toEqual({ kept: 'kept' });

    mustBe(200, await account!.send('PUT', '/v1/secrets/SECOND_KEY', { value: gateway!.secretAccessKey }));
    mustBe(200, await remove(`/v1/workspaces/${id}`));
    expect(await outside.keys()).toEqual([]);
    expect((await account!.send('GET', `/v1/workspaces/${id}`)).status).toBe(404);
  });

  test('is not reported as deleted while its store is away, and is deleted when the store is back', async () => {
    const { id, outside } = await newWorkspace('THIRD_KEY');
    await gateway!.kill();
    const refused = await remove(`/v1/workspaces/${id}`).finally(() => gateway!.restart());
    expect(refused).toMatchObject({ status: 503, body: { error: { code: 'E_STORAGE_UNAVAILABLE' } } });
    expect(await outside.all()).toEqual({ kept: 'kept' });
    // The server remembers the outage until it has asked again.
    await vi.waitFor(async () => mustBe(200, await remove(`/v1/workspaces/${id}`)));
    expect(await outside.keys()).toEqual([]);
  });

  test('can be given up without deleting its objects, if the caller says so', async () => {
    const { id, outside } = await newWorkspace('FOURTH_KEY');
    mustBe(200, await account!.send('PUT', '/v1/secrets/FOURTH_KEY', { value: 'lost' }));
    mustBe(200, await account!.send('PATCH', `/v1/workspaces/${id}`, { config: { storage: { provider: 'local' } } }));
    mustBe(200, await remove(`/v1/workspaces/${id}`));
    mustBe(200, await remove('/v1/secrets/FOURTH_KEY'));
    expect(await outside.all()).toEqual({ kept: 'kept' });
  });
});
