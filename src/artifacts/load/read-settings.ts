/** What a file says about the safety of a tool, and what its script needs. */

import {
  SIDE_EFFECT_LEVELS,
  TOOL_KINDS,
  type ToolAnnotations,
} from '../../core/contract/annotations.ts';
import type { FileGrants } from '../artifact.ts';
import { isPublicEntry, PUBLIC_HOSTS } from '../builtins/http-targets.ts';
import type { Member } from './frontmatter.ts';
import { type FileScope, kinds, readSettings, type ValueKind } from './scope.ts';

const SAFETY: Readonly<Record<string, ValueKind>> = {
  filesystem: kinds.flag,
  process: kinds.flag,
  network: kinds.flag,
  payment: kinds.flag,
  requires_confirmation: kinds.flag,
  allowed_roots: kinds.texts,
  redaction: kinds.texts,
};

const ANNOTATIONS: Readonly<Record<string, ValueKind>> = {
  title: kinds.text,
  kind: kinds.oneOf(TOOL_KINDS),
  read_only: kinds.flag,
  destructive: kinds.flag,
  idempotent: kinds.flag,
  open_world: kinds.flag,
  needs_approval: kinds.flag,
  supports_streaming: kinds.flag,
  side_effect_level: kinds.oneOf(SIDE_EFFECT_LEVELS),
  capabilities: kinds.lists,
};

/** A folder below the root: one meaning, and no way out. */
const FOLDER: ValueKind = {
  text: 'a folder below the project root, such as "data" or "."',
  read: ({ value }, { frontmatter }) => {
    const path = frontmatter.dataOf(value);
    const isInside =
      typeof path === 'string' &&
      path !== '' &&
      !/[\\\0]/.test(path) &&
      path.split('/').every((part) => part !== '' && part !== '..');
    return isInside ? path : undefined;
  },
};

/** What a call would refuse is told with its place, before there is a call. */
const DOMAINS: ValueKind = {
  text: `a list of ${PUBLIC_HOSTS}`,
  read: (member, scope) => {
    const texts = kinds.texts.read(member, scope);
    const isPublic = (text: unknown) => typeof text === 'string' && isPublicEntry(text);
    return Array.isArray(texts) && texts.every(isPublic) ? texts : undefined;
  },
};

const GRANTS: Readonly<Record<string, ValueKind>> = {
  workspace: FOLDER,
  allowed_domains: DOMAINS,
  allowed_ports: kinds.ports,
  env: kinds.texts,
  shell: kinds.flag,
  meta: kinds.flag,
  max_output_bytes: kinds.whole(1),
};

/** Hints for policies, as every tool has them. */
export function readAnnotations(scope: FileScope, owner: string, member: Member): ToolAnnotations {
  const who = `${owner} annotations`;
  const nested: ValueKind = {
    text: 'keys with values',
    read: (safety, inner) =>
      readSettings(inner, `${who} safety`, { ...safety, key: 'safety', keyAt: safety.at }, SAFETY),
  };
  // Each member was held to what annotations have.
  return Object.freeze(
    readSettings(scope, who, member, { ...ANNOTATIONS, safety: nested }) as ToolAnnotations,
  );
}

/** What the script may use of the built-ins. A host can make it less, never more. */
export const readGrants = (scope: FileScope, owner: string, member: Member): FileGrants =>
  Object.freeze(readSettings(scope, `${owner} grants`, member, GRANTS));
