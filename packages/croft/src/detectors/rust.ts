import { parse } from 'smol-toml';
import { z } from 'zod';
import { type Argv, type Detector, type ProjectDirectory, toScripts } from '../core/projects/profile.ts';
import { readSettings } from '../core/projects/read-settings.ts';
import { wholeOrFiles } from '../core/projects/whole-or-files.ts';

const Edition = z.string().regex(/^\d{4}$/);
const Shared = z.object({ edition: Edition }).optional().catch(undefined);
const Manifest = z.object({
  package: z
    .object({
      edition: z
        .union([Edition, z.object({ workspace: z.literal(true) })])
        .optional()
        .catch(undefined),
    })
    .optional()
    .catch(undefined),
  workspace: z.object({ package: Shared }).optional().catch(undefined),
});
type Manifest = z.output<typeof Manifest>;
const Config = z.object({ alias: z.record(z.string(), z.unknown()).catch({}).default({}) });

const json = '--message-format=json';

export const rust: Detector = {
  language: 'rust',
  aliases: ['rs', 'cargo'],
  isMarker: (name) => name === 'Cargo.toml',
  async detect(project) {
    const manifest = await readManifest(project, 'Cargo.toml');
    // Without this only the package at the root of a workspace is looked at.
    const reach = manifest?.workspace ? ['--workspace'] : [];
    return {
      language: 'rust',
      ecosystem: 'rust',
      directory: project.path,
      extensions: ['.rs'],
      packageManager: 'cargo',
      install: ['cargo', 'fetch'],
      ...toFormat(await findEdition(project, manifest)),
      // Files are nothing to cargo: to clippy they would be options of rustc, and to tests the names of tests.
      lint: { tool: 'clippy', argv: ['cargo', 'clippy', ...reach, '--all-targets', json] },
      typecheck: { tool: 'cargo-check', argv: ['cargo', 'check', ...reach, '--all-targets', json] },
      test: { tool: 'cargo-test', argv: ['cargo', 'test', ...reach] },
      scripts: toScripts(await findAliases(project), (name) => ['cargo', name]),
      coversBelow: manifest?.workspace !== undefined,
    };
  },
};

async function readManifest(project: ProjectDirectory, name: string): Promise<Manifest | undefined> {
  return readSettings(await project.read(name), parse, Manifest);
}

/** Left to itself rustfmt takes every file for one of 2015, in which `async fn` is an error. */
async function findEdition(project: ProjectDirectory, manifest: Manifest | undefined): Promise<string> {
  const edition = manifest?.package?.edition;
  if (typeof edition === 'string') return edition;
  const shared = manifest?.workspace?.package?.edition;
  if (shared !== undefined) return shared;
  return edition === undefined ? '2015' : ((await findShared(project)) ?? '2015');
}

/** Of the workspace that the package is in. */
async function findShared(project: ProjectDirectory): Promise<string | undefined> {
  for (let up = '..'; up.split('/').length <= project.path.split('/').length; up += '/..') {
    const edition = (await readManifest(project, `${up}/Cargo.toml`))?.workspace?.package?.edition;
    if (edition !== undefined) return edition;
  }
  return undefined;
}

function toFormat(edition: string): { format: Argv; formatCheck: Argv } {
  const rustfmt: Argv = ['rustfmt', '--edition', edition];
  return {
    format: wholeOrFiles(['cargo', 'fmt'], rustfmt),
    formatCheck: wholeOrFiles(['cargo', 'fmt', '--check'], [...rustfmt, '--check']),
  };
}

async function findAliases(project: ProjectDirectory): Promise<string[]> {
  if (!project.directories.has('.cargo')) return [];
  const text = (await project.read('.cargo/config.toml')) ?? (await project.read('.cargo/config'));
  return Object.keys(readSettings(text, parse, Config)?.alias ?? {});
}
