/** Ajv, set up for foreign schemas and values. */

import { Type } from 'ajv/dist/compile/util.js';
import { _, Ajv2020, type KeywordCxt, type ValidateFunction } from 'ajv/dist/2020.js';
import type { JsonValue } from '../../core/json/json-value.ts';
import { AlliumError } from '../../core/contract/errors.ts';
import { type Compilable, STEPS } from './compilable.ts';
import { FORMATS } from './formats.ts';
import { linearRegExp } from './linear-regexp.ts';
import { spendOn } from './steps.ts';
import { areUnique, memberOf } from './unique-items.ts';

/**
 * Compiles with an ajv of its own. A shared one keeps every schema and function it ever compiled in
 * its scope, whatever is removed from it, and gets slower as they grow in number. No coercion, no
 * defaults, own members only.
 */
export function compile(
  { schema, tracksEvaluated }: Compilable,
  allErrors: boolean,
): ValidateFunction {
  const ajv = new Ajv2020({
    allErrors,
    strict: false,
    strictNumbers: true,
    meta: false,
    validateSchema: false,
    addUsedSchema: false,
    inlineRefs: false,
    ownProperties: true,
    messages: false,
    verbose: true,
    logger: false,
    formats: Object.fromEntries(FORMATS),
    code: { regExp: linearRegExp, optimize: false },
  });
  ajv.opts.unevaluated = tracksEvaluated;
  ajv.opts.dynamicRef = false;
  replaceKeywords(ajv);
  return ajv.compile(schema);
}

/**
 * Throws where ajv could not compile any schema, as on edge runtimes and with
 * `--disallow-code-generation-from-strings`.
 */
export function demandCodeGeneration(owner: string): void {
  try {
    Reflect.construct(Function, ['']);
  } catch (thrown) {
    const message = `${owner}: this runtime forbids code that is made from strings, which checking arguments against schemas needs. Run it on Node, Bun or Deno, without --disallow-code-generation-from-strings`;
    throw new AlliumError('ERR_NO_CODE_GENERATION', message, {}, { cause: thrown });
  }
}

/**
 * Ajv's own take quadratic time, and its comparison of objects calls a member `toString` that the
 * value brought along.
 */
function replaceKeywords(ajv: Ajv2020): void {
  for (const keyword of ['enum', 'const', 'uniqueItems', 'contains']) ajv.removeKeyword(keyword);
  // Ajv types a keyword's value as any; it was checked to be what the keyword needs.
  ajv.addKeyword({
    keyword: 'enum',
    before: '$ref',
    code: (context) => failUnless(context, memberOf(context.schema as JsonValue[])),
  });
  ajv.addKeyword({
    keyword: 'const',
    before: '$ref',
    code: (context) => failUnless(context, memberOf([context.schema as JsonValue])),
  });
  ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', code: failUnlessUnique });
  ajv.addKeyword({
    keyword: 'contains',
    type: 'array',
    before: 'unevaluatedItems',
    trackErrors: true,
    code: countItems,
  });
  ajv.addKeyword({ keyword: STEPS, before: '$ref', code: reportSteps });
}

function failUnlessUnique(context: KeywordCxt): void {
  if (context.schema === true) failUnless(context, areUnique);
}

/**
 * Counts the items that fit. Ajv's own keeps the errors of all others until the end and copies them
 * at every reference, which takes a minute for 100 000 items.
 */
function countItems(context: KeywordCxt): void {
  const { gen, data, it } = context;
  // Both were checked to be counts.
  const { minContains = 1, maxContains = Number.MAX_SAFE_INTEGER } = context.parentSchema as {
    minContains?: number;
    maxContains?: number;
  };
  const count = gen.let('count', 0);
  const fits = gen.name('valid');
  it.items = true;
  gen.forRange('i', 0, _`${data}.length`, (index) => {
    context.subschema(
      { keyword: 'contains', dataProp: index, dataPropType: Type.Num, compositeRule: true },
      fits,
    );
    gen.if(
      fits,
      () => gen.code(_`${count}++`),
      () => context.reset(),
    );
  });
  context.pass(_`${count} >= ${minContains} && ${count} <= ${maxContains}`);
}

function failUnless(context: KeywordCxt, test: (value: never) => boolean): void {
  const name = context.gen.scopeValue('keyword', { ref: test });
  context.fail(_`!${name}(${context.data})`);
}

function reportSteps(context: KeywordCxt): void {
  const name = context.gen.scopeValue('func', { ref: spendOn });
  context.gen.code(_`${name}(${Number(context.schema)}, ${context.data})`);
}
