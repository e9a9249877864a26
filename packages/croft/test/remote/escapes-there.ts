import { readlinkSync } from 'node:fs';
import { escapes } from '../../src/escapes/index.ts';
import { attemptAll } from '../../src/escapes/run.ts';
import { createWireApps } from './wire-app.ts';

/** Makes attempts in the network that this process is in, of which the server is outside. Told which not to make. */

const [deadlineMs = '0', ...left] = process.argv.slice(2);
const { openApp } = createWireApps();
const attempted = escapes.filter(({ id }) => !left.includes(id));
const reports = await attemptAll(attempted, { openApp, deadlineMs: Number(deadlineMs) });
process.send?.({ reports, network: readlinkSync('/proc/self/ns/net') }, () => process.exit());
