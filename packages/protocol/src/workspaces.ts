import { z } from 'zod';
import { Description, must, mustBeOneOf, Name, NonEmpty, recordFields } from './fields.ts';

const storageProviders = ['local', 's3'] as const;
const authTypes = ['managed', 'assumeRole'] as const;

const Toggle = z.object({ enabled: z.boolean(must('be a boolean')).optional() }, must('be an object'));

const StorageAuth = z
  .object(
    {
      type: z.enum(authTypes, mustBeOneOf(authTypes)),
      roleArn: NonEmpty.optional(),
      externalId: NonEmpty.optional(),
    },
    must('be an object'),
  )
  .refine(({ type, roleArn }) => type === 'managed' || roleArn !== undefined, {
    ...must('be a non-empty string'),
    path: ['roleArn'],
  });

export const WorkspaceStorage = z.object(
  {
    provider: z.enum(storageProviders, mustBeOneOf(storageProviders)).prefault('local'),
    bucket: NonEmpty.optional(),
    region: NonEmpty.optional(),
    endpoint: NonEmpty.optional(),
    prefix: z.string(must('be a string')).optional(),
    auth: StorageAuth.optional(),
  },
  must('be an object'),
);

/** A workspace's config as a caller writes it. What it does not name is dropped. */
export const WorkspaceConfigInput = z.object(
  {
    storage: WorkspaceStorage.prefault({}),
    isolation: z.boolean(must('be a boolean')).optional(),
    harness: Toggle.extend({ workspace: Toggle.optional(), memory: Toggle.optional() }).optional(),
  },
  must('be an object'),
);

export const CreateWorkspace = z.object(
  { name: Name, description: Description.nullish(), config: WorkspaceConfigInput.prefault({}) },
  must('be an object'),
);

export const Workspace = z.object({ ...recordFields, workspaceId: z.string(), config: WorkspaceConfigInput });
export type Workspace = z.output<typeof Workspace>;
