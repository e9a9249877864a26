import { z } from 'zod';
import { Bytes, Id, method } from './common.ts';

/** Bytes that the server sends, and those that it is sent. */
export const channels = { answer: 0, body: 1 } as const;
/** Of one object: as many parts of the usual size as a service takes. */
const maxObjectBytes = 64 * 1024 ** 3;
/** In one call: with the longest keys they fit into a message. */
export const maxKeysAtOnce = 200;
/** Of a page of a listing, as JSON. */
export const maxPageBytes = 8 * 1024 * 1024;

/** How long one may be is the store's to say. */
const Key = z.string().min(1).max(2048);
/** It becomes a part of a header. */
const Etag = z.string().regex(/^[\x21\x23-\x7e]{1,200}$/);
const Metadata = z
  .record(z.string().regex(/^[a-z0-9-]{1,100}$/), z.string().max(8192))
  .refine((metadata) => Object.keys(metadata).length <= 50, 'is too much');
const at = { objects: Id, key: Key };

const ListedObject = z.object({
  key: Key,
  etag: z.string().max(300),
  size: Bytes,
  modifiedMs: z.number(),
});
export const ObjectHead = ListedObject.extend({ metadata: z.record(z.string(), z.string().max(8192)) });
export const ObjectsPage = z.array(ListedObject);

/** Tells what was found, then sends it. Answered when all of it was sent. */
export const getObject = method(
  'objects.get',
  z.strictObject({
    ...at,
    unlessEtag: Etag.optional(),
    range: z.strictObject({ start: Bytes, end: Bytes.optional() }).optional(),
  }),
  z.null(),
);
export const FoundObject = z.object({ found: z.union([z.enum(['nothing', 'unchanged']), ObjectHead]) });

export const headObject = method('objects.head', z.strictObject(at), ObjectHead.nullable());

/** The body is exactly as long as it says, or nothing is stored. */
export const putObject = method(
  'objects.put',
  z.strictObject({
    ...at,
    size: Bytes.max(maxObjectBytes),
    metadata: Metadata.optional(),
    expect: z.union([z.literal('absent'), z.strictObject({ etag: Etag })]).optional(),
    contentType: z
      .string()
      .regex(/^[\x20-\x7e]{1,200}$/)
      .optional(),
  }),
  z.union([z.literal('refused'), z.object({ etag: z.string().max(300) })]),
);

export const removeObjects = method(
  'objects.remove',
  z.strictObject({ objects: Id, keys: z.array(Key).max(maxKeysAtOnce) }),
  z.null(),
);

export const copyObject = method(
  'objects.copy',
  z.strictObject({ objects: Id, from: Key, to: Key }),
  z.object({ etag: z.string().max(300) }),
);

/** The pages come on the channel of the answer, a JSON array on each line. */
export const listObjects = method(
  'objects.list',
  z.strictObject({ objects: Id, prefix: z.string().max(2048), after: Key.optional() }),
  z.null(),
);

export const probeObjects = method(
  'objects.probe',
  z.strictObject({ objects: Id }),
  z.object({ isConditional: z.boolean(), reason: z.string().max(1000).optional() }),
);
