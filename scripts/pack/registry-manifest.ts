import { mcpName } from './croft-package.ts';
import type { Manifest } from './staged-package.ts';

/** `server.json`, by which registries of MCP servers list the npm package. */
export function toRegistryManifest({ version, description }: Manifest) {
  const workspace = {
    type: 'named',
    name: '--workspace',
    description: 'The directory that the agent works in',
    value: '.',
  };
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    name: mcpName,
    description,
    version,
    packages: [
      {
        registryType: 'npm',
        identifier: 'croft',
        version,
        transport: { type: 'stdio' },
        packageArguments: [{ type: 'positional', value: 'mcp' }, workspace],
      },
    ],
  };
}
