// Parameters of a function and arguments of a call: which may stand where.

import type { Argument, FunctionScope, NameNode, Parameter } from './ast.ts';
import type { Position } from './position.ts';
import type { Scopes } from './scopes.ts';

/** Stars are bound last, so that the other parameters have the first slots. */
export function resolveParameters(
  scopes: Scopes,
  parameters: readonly Parameter[],
  scope: FunctionScope,
): void {
  let star: Parameter | undefined;
  let doubleStar: Parameter | undefined;
  let optional = false;
  for (const parameter of parameters) {
    const { kind, position } = parameter;
    const after = `**${doubleStar?.name?.name ?? ''}`;
    if (kind === '*') {
      if (doubleStar !== undefined) scopes.fail(position, `* parameter may not follow ${after}`);
      else if (star !== undefined) scopes.fail(position, 'multiple * parameters not allowed');
      else star = parameter;
    } else if (kind === '**') {
      if (doubleStar !== undefined) scopes.fail(position, 'multiple ** parameters not allowed');
      doubleStar = parameter;
    } else {
      const word = parameter.fallback === null ? 'required' : 'optional';
      if (doubleStar !== undefined)
        scopes.fail(position, `${word} parameter may not follow ${after}`);
      else if (star !== undefined) scope.keywordOnlyCount++;
      else if (optional && word === 'required')
        scopes.fail(position, 'required parameter may not follow optional');
      optional ||= word === 'optional';
      parameterName(scopes, parameter.name, position);
    }
  }
  stars(scopes, scope, star, doubleStar);
}

function stars(
  scopes: Scopes,
  scope: FunctionScope,
  star: Parameter | undefined,
  doubleStar: Parameter | undefined,
): void {
  if (star?.name) {
    parameterName(scopes, star.name, star.name.start);
    scope.hasVarargs = true;
  } else if (star !== undefined && scope.keywordOnlyCount === 0)
    scopes.fail(star.position, 'bare * must be followed by keyword-only parameters');
  if (doubleStar?.name) {
    parameterName(scopes, doubleStar.name, doubleStar.name.start);
    scope.hasKwargs = true;
  }
}

function parameterName(scopes: Scopes, name: NameNode | null, position: Position): void {
  if (name !== null && scopes.bind(name))
    scopes.fail(position, `duplicate parameter: ${name.name}`);
}

/** Why an argument may not stand where it does. */
export function misplaced(
  { kind }: Argument,
  seen: {
    readonly star: boolean;
    readonly doubleStar: boolean;
    readonly names: ReadonlySet<string>;
  },
): string | undefined {
  switch (kind) {
    case '**':
      return seen.doubleStar ? 'multiple **kwargs not allowed' : undefined;
    case '*':
      if (seen.doubleStar) return '*args may not follow **kwargs';
      return seen.star ? 'multiple *args not allowed' : undefined;
    case 'named':
      if (seen.doubleStar) return 'keyword argument may not follow **kwargs';
      return seen.star ? 'keyword argument may not follow *args' : undefined;
    case 'positional':
      if (seen.star) return 'positional argument may not follow *args';
      if (seen.doubleStar) return 'positional argument may not follow **kwargs';
      return seen.names.size > 0 ? 'positional argument may not follow named' : undefined;
  }
}
