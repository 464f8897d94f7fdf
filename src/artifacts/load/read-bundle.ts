/** Files that hold several tools and hooks: bundles, and `harness.md`. */

import type { HookArtifact, ToolArtifact } from '../artifact.ts';
import type { Member } from './frontmatter.ts';
import { readHook } from './read-hook.ts';
import { readModel, readToolsPolicy, type ToolsPolicy } from './read-harness.ts';
import { readTool } from './read-tool.ts';
import { type FileScope, kinds, readKeys, readValue } from './scope.ts';

export interface Bundle {
  readonly tools: readonly ToolArtifact[];
  readonly hooks: readonly HookArtifact[];
  readonly policy: ToolsPolicy | null;
}

/**
 * `isHarness`: the file may also say what its ancestor's did of model and tools; the body is for
 * people.
 */
export function readBundle(scope: FileScope, isHarness: boolean): Bundle {
  let tools: readonly ToolArtifact[] = [];
  let hooks: readonly HookArtifact[] = [];
  let policy: ToolsPolicy | null = null;
  const owner = isHarness ? 'harness.md' : 'a bundle';
  const text = (member: Member): void => void readValue(scope, owner, member, kinds.text);
  readKeys(scope, owner, scope.frontmatter.members, {
    tools: (member) =>
      void (tools = entriesOf(scope, member, 'tools').flatMap((entry) => toolFrom(scope, entry))),
    hooks: (member) =>
      void (hooks = entriesOf(scope, member, 'hooks').flatMap((entry) => hookFrom(scope, entry))),
    name: text,
    description: text,
    ...(isHarness
      ? {
          model: (member: Member) => readModel(scope, member),
          tools_policy: (member: Member) => void (policy = readToolsPolicy(scope, member)),
        }
      : {}),
  });
  return { tools, hooks, policy };
}

interface Entry {
  readonly index: number;
  readonly members: readonly Member[];
  readonly at: Member['at'];
  readonly name: string | null;
  readonly nameAt: Member['at'];
}

function entriesOf(
  scope: FileScope,
  { value, at }: Member,
  list: 'tools' | 'hooks',
): readonly Entry[] {
  const items = scope.frontmatter.itemsOf(value);
  if (items === null) scope.report(at, `${list} must be a list`);
  return (items ?? []).flatMap((item, index) => {
    const members = scope.frontmatter.membersOf(item.value);
    if (members === null) {
      scope.report(item.at, `${list}[${index}] must be keys with values`);
      return [];
    }
    const given = members.find(({ key }) => key === 'name');
    const name = given === undefined ? null : scope.frontmatter.dataOf(given.value);
    const isNamed = typeof name === 'string' && name.trim() !== '';
    if (!isNamed)
      scope.report(
        given?.at ?? item.at,
        `${list}[${index}].name ${name === null || name === '' || typeof name === 'string' ? 'cannot be empty' : 'must be text'}`,
      );
    return [
      { index, members, at: item.at, name: isNamed ? name : null, nameAt: given?.at ?? item.at },
    ];
  });
}

/** What has no name is still read, so that its other mistakes are told. */
function toolFrom(
  scope: FileScope,
  { index, members, name, nameAt }: Entry,
): readonly ToolArtifact[] {
  const read = readTool(scope, members, {
    name: name ?? `tools_${index}`,
    at: nameAt,
    isEntry: true,
    body: '',
  });
  return name === null ? [] : [read];
}

function hookFrom(
  scope: FileScope,
  { index, members, name, nameAt }: Entry,
): readonly HookArtifact[] {
  const read = readHook(
    scope,
    members,
    { name: name ?? `hooks_${index}`, at: nameAt, isEntry: true, body: '' },
    index,
  );
  return name === null || read === null ? [] : [read];
}
