#!/usr/bin/env node
// The launcher of the npm package, on whatever Node the machine has. A clone has `bin/croft`, which finds the clone's Node.
const wanted = 24;
const version = process.versions.node;

if (Number(version.split('.')[0]) < wanted) {
  process.stderr.write(
    `croft: this is Node ${version}, and croft needs Node ${wanted} or newer; install it, then run croft again\n`,
  );
  process.exit(1);
}

// Node has four threads for files. Four slow disks or large files would keep everybody waiting.
process.env.UV_THREADPOOL_SIZE ??= '16';
// With the default settings of Node, short-lived objects of a server take 130 MB. With a third of that the server is as
// fast.
const nodeFlags = ['--max-semi-space-size=16', '--disable-warning=ExperimentalWarning'];
const servers = ['runner', 'serve'];

const { fileURLToPath } = await import('node:url');
const start = fileURLToPath(new URL('start.mjs', import.meta.url));

hideExperimentalWarnings();
if (process.platform === 'linux' && servers.includes(process.argv[2])) await replaceProcess();
await import('./start.mjs');

/**
 * Node takes these flags only when it starts, so the process replaces itself. It keeps its process id. That takes about
 * 25 ms.
 */
async function replaceProcess() {
  const argv = [process.execPath, ...nodeFlags, start, ...process.argv.slice(2)];
  // The first process of a container has duties that Node does not know: native/init/container-pid1.h.
  const init = process.pid === 1 ? await findInit() : undefined;
  const whole = init === undefined ? argv : [init, '--first', ...argv];
  process.execve(whole[0], whole, process.env);
}

async function findInit() {
  const { createRequire } = await import('node:module');
  try {
    return createRequire(import.meta.url).resolve(`@croft/linux-${process.arch}/croft-init`);
  } catch {
    return undefined;
  }
}

function hideExperimentalWarnings() {
  const listeners = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (warning.name !== 'ExperimentalWarning') for (const listener of listeners) listener(warning);
  });
}
