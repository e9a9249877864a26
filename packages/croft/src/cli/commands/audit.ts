import { list } from '../audit/list-audit-rows.ts';
import { anchor, exportRows, head, verify } from '../audit/operator-verbs.ts';
import { defineGroup } from '../command.ts';

export const audit = defineGroup('audit', { list, export: exportRows, verify, head, anchor });
