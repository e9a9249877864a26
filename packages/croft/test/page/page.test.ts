import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { approvalCases } from './approval-cases.ts';
import { auditCases } from './audit-cases.ts';
import { installBrowser } from './browser.ts';
import { fenceCases } from './fence-cases.ts';
import { firstMinuteCases } from './first-minute-cases.ts';
import { liveCases } from './live-cases.ts';
import { lookCases } from './look-cases.ts';
import { openFixture, type PageFixture } from './page-fixture.ts';
import { setUpCases } from './set-up-cases.ts';
import { signInCases } from './sign-in-cases.ts';
import { terminalCases } from './terminal-cases.ts';
import { workspaceCases } from './workspace-cases.ts';

const browser = installBrowser();

describe.skipIf(browser === undefined)(
  `the page in ${browser ?? 'a browser, which this machine does not have'}`,
  () => {
    let fixture: PageFixture;
    beforeAll(async () => {
      fixture = await openFixture(browser ?? '');
    });
    afterAll(() => fixture?.[Symbol.asyncDispose]());
    const get = () => fixture;

    describe('the first minute', () => firstMinuteCases(get));
    describe('setting up', () => setUpCases(get));
    describe('signing in', () => signInCases(get));
    describe('approving', () => approvalCases(get));
    describe('files and their history', () => workspaceCases(get));
    describe('live', () => liveCases(get));
    describe('the fence', () => fenceCases(get));
    describe('the audit trail', () => auditCases(get));
    describe('looks', () => lookCases(get));
    describe('terminal', () => terminalCases(get));

    test('in all of this the policy had nothing to report, and no other host was asked', () => {
      expect(fixture.problems).toEqual([]);
    });
  },
);
