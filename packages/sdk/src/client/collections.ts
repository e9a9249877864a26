import {
  Agent,
  AgentList,
  AgentMade,
  type CreateAgent,
  type CreateSandbox,
  type CreateWorkspace,
  Deleted,
  type RecordPatch,
  Sandbox,
  SandboxList,
  Workspace,
  WorkspaceList,
} from '@croft/protocol';
import type { z } from 'zod';
import { type PageOptions, readAll } from './pages.ts';
import { path, type Request } from './request.ts';

export interface ChangeOptions {
  /** The last known `version` of the record. The change is refused if the record has another version. */
  readonly version?: number | undefined;
}

export interface CreateOptions {
  /** A request repeated with the same key within a day gets the first answer and creates nothing. */
  readonly idempotencyKey?: string | undefined;
}

/** Records of the key's own account at `/v1`, or of any account at `/accounts/{accountId}`. */
export function createCollections(request: Request, root: string) {
  return {
    agents: createCollection<z.input<typeof CreateAgent>, typeof Agent, typeof AgentMade>(request, `${root}/agents`, {
      one: Agent,
      made: AgentMade,
      list: async (query) => {
        const { agents: rows, next } = await request('GET', `${root}/agents`, { answer: AgentList, query });
        return { rows, next };
      },
    }),
    sandboxes: createCollection<z.input<typeof CreateSandbox>, typeof Sandbox>(request, `${root}/sandboxes`, {
      one: Sandbox,
      made: Sandbox,
      list: async (query) => {
        const { sandboxes: rows, next } = await request('GET', `${root}/sandboxes`, { answer: SandboxList, query });
        return { rows, next };
      },
    }),
    workspaces: createCollection<z.input<typeof CreateWorkspace>, typeof Workspace>(request, `${root}/workspaces`, {
      one: Workspace,
      made: Workspace,
      list: async (query) => {
        const { workspaces: rows, next } = await request('GET', `${root}/workspaces`, { answer: WorkspaceList, query });
        return { rows, next };
      },
    }),
  };
}

interface Schemas<One extends z.ZodType, Made extends z.ZodType> {
  readonly one: One;
  readonly made: Made;
  list(query: Listing): Promise<{ readonly rows: readonly z.output<One>[]; readonly next?: string | undefined }>;
}

type Listing = Readonly<Record<string, string | number | undefined>>;

function createCollection<Create, One extends z.ZodType, Made extends z.ZodType = One>(
  request: Request,
  root: string,
  { one, made, list }: Schemas<One, Made>,
) {
  const listPage = (page: PageOptions = {}) => list({ ...page });
  return {
    create: (body: Create, { idempotencyKey }: CreateOptions = {}) =>
      request('POST', root, { answer: made, body, headers: { 'idempotency-key': idempotencyKey } }),
    get: (id: string) => request('GET', root + path`/${id}`, { answer: one }),
    list: listPage,
    all: () => readAll(listPage, ({ rows }) => rows),
    patch: (id: string, body: z.input<typeof RecordPatch>, change: ChangeOptions = {}) =>
      request('PATCH', root + path`/${id}`, { answer: one, body, headers: toHeaders(change) }),
    remove: async (id: string, change: ChangeOptions = {}): Promise<void> => {
      await request('DELETE', root + path`/${id}`, { answer: Deleted, headers: toHeaders(change) });
    },
  };
}

export function toHeaders({ version }: ChangeOptions) {
  return { 'if-match': version === undefined ? undefined : `"${version}"` };
}
