import { readlinkSync } from 'node:fs';
import { escapes } from '../../src/escapes/index.ts';
import { attemptAll } from '../../src/escapes/run-escapes.ts';
import { createWireApps } from './wire-app.ts';

/**
 * Runs the escapes in the network namespace of this process; the server is outside. Arguments name the escapes to leave
 * out.
 */

const [deadlineMs = '0', ...left] = process.argv.slice(2);
const { openApp } = createWireApps();
const attempted = escapes.filter(({ id }) => !left.includes(id));
const reports = await attemptAll(attempted, { openApp, deadlineMs: Number(deadlineMs) });
process.send?.({ reports, network: readlinkSync('/proc/self/ns/net') }, () => process.exit());
