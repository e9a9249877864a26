import { z } from 'zod';
import { Bytes, defineMethod, Id } from './define-method.ts';

/** Channel 0 carries bytes from the server, channel 1 bytes to it. */
export const channels = { answer: 0, body: 1 } as const;
/** The largest object: as many parts of the usual size as an object store takes. */
const maxObjectBytes = 64 * 1024 ** 3;
/** The most keys in one call: with the longest keys they still fit into a message. */
export const maxKeysAtOnce = 200;
/** The JSON of one page of a listing. */
export const maxPageBytes = 8 * 1024 * 1024;

/** The object store has its own, shorter limit. */
const Key = z.string().min(1).max(2048);
/** An ETag becomes part of a header, so that only safe characters are allowed. */
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

/** Sends a `FoundObject` message, then the bytes. Answered when all bytes were sent. */
export const getObject = defineMethod(
  'objects.get',
  z.strictObject({
    ...at,
    unlessEtag: Etag.optional(),
    range: z.strictObject({ start: Bytes, end: Bytes.optional() }).optional(),
  }),
  z.null(),
);
export const FoundObject = z.object({ found: z.union([z.enum(['nothing', 'unchanged']), ObjectHead]) });

export const headObject = defineMethod('objects.head', z.strictObject(at), ObjectHead.nullable());

/** The body must have exactly `size` bytes, or nothing is stored. */
export const putObject = defineMethod(
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

export const removeObjects = defineMethod(
  'objects.remove',
  z.strictObject({ objects: Id, keys: z.array(Key).max(maxKeysAtOnce) }),
  z.null(),
);

export const copyObject = defineMethod(
  'objects.copy',
  z.strictObject({ objects: Id, from: Key, to: Key }),
  z.object({ etag: z.string().max(300) }),
);

/** The pages arrive on the answer channel, one JSON array a line. */
export const listObjects = defineMethod(
  'objects.list',
  z.strictObject({ objects: Id, prefix: z.string().max(2048), after: Key.optional() }),
  z.null(),
);

export const probeObjects = defineMethod(
  'objects.probe',
  z.strictObject({ objects: Id }),
  z.object({ isConditional: z.boolean(), reason: z.string().max(1000).optional() }),
);
