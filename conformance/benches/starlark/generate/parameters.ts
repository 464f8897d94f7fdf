/** Random parameters of functions. */

import { type Context, type Kind, type Parameter, several, within } from './context.ts';
import { expression } from './expressions.ts';

/** What variables and parameters hold. */
export const BODY_KINDS: readonly Kind[] = [
  'int',
  'int',
  'string',
  'list',
  'dict',
  'float',
  'tuple',
  'bool',
];
const FORMS: readonly Parameter['form'][] = ['required', 'optional', 'star', 'named', 'starstar'];

/** In the order that the language wants them in. */
export const randomParameters = (context: Context): readonly Parameter[] =>
  FORMS.flatMap((form) => parametersOf(context, form));

function parametersOf(context: Context, form: Parameter['form']): readonly Parameter[] {
  const { random } = context;
  const make = (kind: Kind = random.pick(BODY_KINDS)): Parameter => ({
    name: context.fresh('p'),
    kind,
    form,
  });
  switch (form) {
    case 'required':
      return several(random.below(3), () => '').map(() => make());
    case 'optional':
      return several(random.below(3), () => '').map(() => make());
    case 'named':
      return random.oneIn(4) ? [make()] : [];
    case 'star':
      return random.oneIn(4) ? [make('tuple')] : [];
    case 'starstar':
      return random.oneIn(6) ? [make('dict')] : [];
  }
}

/** A parameter as its `def` writes it. */
export function spell(context: Context, { name, kind, form }: Parameter): string {
  if (form === 'star') return `*${name}`;
  if (form === 'starstar') return `**${name}`;
  if (form === 'optional')
    return `${name}=${expression(within(context, { variables: [] }), kind, 1)}`;
  return name;
}
