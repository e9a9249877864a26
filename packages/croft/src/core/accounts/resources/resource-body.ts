import { Description, Name, RecordPatch } from '@croft/protocol';
import { z } from 'zod';
import { isObject, type ReadonlyJsonObject } from '../configs/check-json.ts';
import { invalidArgument } from '../configs/invalid-argument.ts';
import { maskSecrets } from '../configs/mask-secrets.ts';
import { mergePatch } from '../configs/merge-patch.ts';
import { parseRequestBody } from '../configs/parse-request-body.ts';
import type { ResourceView } from '../ports/registry.ts';

const Creation = z.object(
  { name: Name, description: Description.nullish(), config: z.unknown().optional() },
  'Request body must be an object',
);

export type GivenPatch = Omit<RecordPatch, 'config'> & { readonly config?: ReadonlyJsonObject | undefined };

/**
 * Parses a new record. Parses the config before nulls are removed, so that a `null` for a known setting is still
 * refused.
 */
export function parseCreation<Config>(body: unknown, parse: (config: unknown) => Config) {
  const { name, description, config = {} } = parseRequestBody(Creation, body);
  return { name, ...(description && { description }), config: parse(mergePatch({}, parse(config))) };
}

export function parsePatch(body: unknown, respell: (patch: ReadonlyJsonObject) => ReadonlyJsonObject): GivenPatch {
  const { config, ...rest } = parseRequestBody(RecordPatch, body);
  if (config === undefined && rest.name === undefined && rest.description === undefined) {
    throw invalidArgument('Request body must include name, description or config', 'Request body');
  }
  return { ...rest, ...(config && { config: respell(config) }) };
}

export function applyPatch<Config>(
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
    config: patch.config ? parse(mergePatch(before.config, patch.config)) : before.config,
    updatedAt: now.toISOString(),
    version: before.version + 1,
  };
}

/** Returns the fields of a record that a caller can change. */
export function comparable({ name, description, config }: ResourceView<unknown>): ReadonlyJsonObject {
  return { name, ...(description && { description }), config };
}

/** Returns a record as its owner may see it: with secrets masked, and without fields that only the server uses. */
export function maskedView<Config>({ directory: _, ...view }: ResourceView<Config>): ResourceView<Config> {
  const config = maskSecrets(view.config);
  // Masking changes values in a config, never its shape.
  return isObject(config) ? { ...view, config: config as Config } : view;
}
