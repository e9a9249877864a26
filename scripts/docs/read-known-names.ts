import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commands } from '../../packages/croft/src/cli/commands/index.ts';
import { toOpenApi } from '../../packages/croft/src/rest/open-api/open-api.ts';
import { type KnownNames, toPattern } from './find-unknown-names.ts';

const methods = ['get', 'post', 'put', 'patch', 'delete'];

export async function readKnownNames(root: string): Promise<KnownNames> {
  const load = async ([name, command]: (typeof listed)[number]) => {
    const { options } = await command.load();
    return [name, new Set(Object.keys(options))] as const;
  };
  const listed = Object.entries(commands);
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };
  const { paths } = toOpenApi() as { paths: Readonly<Record<string, object>> };
  const routes = Object.entries(paths).flatMap(([path, item]) =>
    methods.filter((method) => method in item).map((method) => `${method.toUpperCase()} ${toPattern(path)}`),
  );
  return {
    commands: new Map(await Promise.all(listed.map(load))),
    scripts: new Set(Object.keys(scripts)),
    routes: new Set(routes),
  };
}
