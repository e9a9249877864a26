import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startLeanClient, type ToolClient } from '../../stdio-client.ts';
import { inOwnNetwork, peerFile, pythonServer } from './code-peers.ts';

/** The command of cclsp for a directory. Its servers are those that its manual names. */
export function cclspCommand(directory: string, scratch: string): [string, ...string[]] {
  const config = join(scratch, 'cclsp.json');
  const typescript = [process.execPath, peerFile('typescript-language-server/lib/cli.mjs'), '--stdio'];
  const servers = [
    {
      ...{ extensions: ['ts'], command: typescript, rootDir: directory },
      initializationOptions: { tsserver: { path: peerFile('typescript/lib') } },
    },
    { extensions: ['py'], command: pythonServer(), rootDir: directory },
  ];
  mkdirSync(scratch, { recursive: true });
  writeFileSync(config, JSON.stringify({ servers }));
  return inOwnNetwork([
    ...['env', '-C', directory, `CCLSP_CONFIG_PATH=${config}`],
    ...[process.execPath, peerFile('cclsp/dist/index.js')],
  ]);
}

export function startCclsp(directory: string, scratch: string): Promise<ToolClient> {
  return startLeanClient(cclspCommand(directory, scratch));
}
