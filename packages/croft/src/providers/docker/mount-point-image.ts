import { lstatSync, readlinkSync } from 'node:fs';
import { systemDirectories } from '../../host/sandbox-paths.ts';
import { sha256 } from '../../lib/crypto/sha256.ts';
import type { EngineClient } from './engine-client.ts';

const blockBytes = 512;
const directories = ['etc', 'home', 'proc', 'run', 'sys', 'dev', 'usr', 'var'];
const imageName = 'localhost/croft-host';

/**
 * Makes an image of empty directories, unless it exists. This machine's own system is mounted over them, so that
 * toolchains are the same as with bubblewrap, and no registry is needed.
 */
export async function ensureMountPointImage(engine: EngineClient): Promise<string> {
  const tar = toTar();
  // The hash is part of the name and not of the tag, because Podman ignores the tag.
  const name = `${imageName}-${sha256(tar).slice(0, 12)}`;
  if (!(await engine.findImage(name))) await engine.importImage(name, tar);
  return name;
}

function toTar(): Buffer {
  const links = systemDirectories.flatMap((path) => {
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
    return isLink ? [toEntry(path.slice(1), readlinkSync(path))] : [];
  });
  const entries = [
    ...directories.map((name) => toEntry(`${name}/`)),
    toEntry('tmp/', undefined, 0o1777),
    ...links,
    toEntry('var/tmp', '../tmp'),
  ];
  return Buffer.concat([...entries, Buffer.alloc(2 * blockBytes)]);
}

/**
 * A tar entry for a directory, or for a link if `link` is given. Some engines take the mode of a mount from the
 * directory below it.
 */
function toEntry(name: string, link?: string, mode = 0o755): Buffer {
  const block = Buffer.alloc(blockBytes);
  const put = (text: string, at: number) => block.write(text, at, 'latin1');
  put(name, 0);
  put(`${mode.toString(8).padStart(7, '0')}\0`, 100);
  for (const at of [108, 116]) put('0000000\0', at);
  for (const at of [124, 136]) put('00000000000\0', at);
  put('        ', 148);
  put(link === undefined ? '5' : '2', 156);
  put(link ?? '', 157);
  put('ustar\0', 257);
  put('00', 263);
  const sum = block.reduce((total, byte) => total + byte, 0);
  put(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}
