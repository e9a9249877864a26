import { Description, Name, RecordPatch } from '@croft/protocol';
import { z } from 'zod';
import { mask } from './mask.ts';
import { merge } from './merge.ts';
import { parseBody } from './parse-body.ts';
import { invalid, isObject, type JsonObject } from './plain-json.ts';
import type { ResourceView } from './registry.ts';

const Creation = z.object(
  { name: Name, description: Description.nullish(), config: z.unknown().optional() },
  'Request body must be an object',
);

export type GivenPatch = Omit<RecordPatch, 'config'> & { readonly config?: JsonObject | undefined };

/** A new record. Its config is read before it is tidied, so that a `null` for a setting of ours is still refused. */
export function parseCreation<Config>(body: unknown, parse: (config: unknown) => Config) {
  const { name, description, config = {} } = parseBody(Creation, body);
  return { name, ...(description && { description }), config: parse(merge({}, parse(config))) };
}

export function parsePatch(body: unknown, respell: (patch: JsonObject) => JsonObject): GivenPatch {
  const { config, ...rest } = parseBody(RecordPatch, body);
  if (config === undefined && rest.name === undefined && rest.description === undefined) {
    throw invalid('Request body must include name, description or config', 'Request body');
  }
  return { ...rest, ...(config && { config: respell(config) }) };
}

export function patched<Config>(
  { description, ...before }: ResourceView<Config>,
  patch: GivenPatch,
  parse: (config: unknown) => Config,
  now: Date,
): ResourceView<Config> {
  const described = patch.description === undefined ? description : patch.description;
  return {
    ...before,
    name: patch.name ?? before.name,
    ...(described && { description: described }),
    config: patch.config ? parse(merge(before.config, patch.config)) : before.config,
    updatedAt: now.toISOString(),
    version: before.version + 1,
  };
}

/** What a caller can change of a record. */
export function comparable({ name, description, config }: ResourceView<unknown>): JsonObject {
  return { name, ...(description && { description }), config };
}

/** As its owner may see it. */
export function show<Config>(view: ResourceView<Config>): ResourceView<Config> {
  const config = mask(view.config);
  // Masking changes what is in a config, never its shape.
  return isObject(config) ? { ...view, config: config as Config } : view;
}
