import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const files = {
  'README.md':
    '# Demo\n\nA workspace to try Croft in. Ask your agent to read `hello.js`, change the greeting and find its uses.\n',
  'hello.js':
    "export function hello(name) {\n  return ['Hello', name].join(', ');\n}\n\nconsole.log(hello('Croft'));\n",
  'package.json': '{\n  "name": "demo",\n  "private": true,\n  "type": "module"\n}\n',
};

/** Creates the demo workspace on first start. Later changes to it stay. */
export function makeDemoWorkspace(data: string) {
  const path = join(data, 'workspaces', 'demo');
  if (!existsSync(path)) {
    mkdirSync(path, { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  }
  return { name: 'demo', path, root: '/workspaces/demo' };
}
