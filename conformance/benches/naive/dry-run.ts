/**
 * A dry run as somebody would write it in an hour: names are compared as they are, an empty list is
 * taken for every tool, it stands wherever it is put, and the record says that the tool did what it
 * is for.
 */

import { annotate, defineLayer, ok, type ToolLayer } from '../../../src/layer.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

interface Options {
  readonly only?: readonly string[];
  readonly except?: readonly string[];
  readonly message?: string;
}

function naiveDryRun({ only = [], except = [], message = '(dry run)' }: Options = {}): ToolLayer {
  const isMeant = (name: string): boolean =>
    (only.length === 0 || only.includes(name)) && !except.includes(name);
  return defineLayer({
    name: 'dryRun',
    async caller(call, next) {
      if (!isMeant(call.toolName)) return next(call);
      const text = `${message} — ${call.toolName}(${JSON.stringify(call.toolArgs)})`;
      const preview = ok(
        call,
        { dryRun: true, args: call.toolArgs },
        { status: 'dry_run', content: [{ type: 'text', text }] },
      );
      return annotate(preview, {}, { status: 'preview' });
    },
  });
}

export default createSubject({ name: 'naive dry-run', factories: { dryRun: naiveDryRun } });

/** The scenarios it must fail. */
export const fails: readonly string[] = [
  'dry-run.previews-none-with-an-empty-list',
  'dry-run.previews-only-what-is-meant',
  'dry-run.records-that-nothing-was-done',
  'dry-run.refuses-a-name-that-is-no-list',
  'dry-run.runs-its-exceptions',
  'dry-run.stands-inside-redaction',
];
