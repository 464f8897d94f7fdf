/** What a tool says about itself. Hints for policy, never proof. */

export const TOOL_KINDS = [
  'read',
  'edit',
  'delete',
  'move',
  'search',
  'execute',
  'think',
  'fetch',
  'switch_mode',
  'other',
] as const;
export type ToolKind = (typeof TOOL_KINDS)[number];

/** From harmless to far-reaching; a ceiling allows its own level and everything before it. */
export const SIDE_EFFECT_LEVELS = [
  'none',
  'read_only',
  'workspace_write',
  'process_exec',
  'network',
] as const;
export type SideEffectLevel = (typeof SIDE_EFFECT_LEVELS)[number];

/** What the tool touches, for the layers that protect it. */
export interface ToolSafety {
  readonly filesystem?: boolean;
  readonly process?: boolean;
  readonly network?: boolean;
  readonly payment?: boolean;
  readonly requiresConfirmation?: boolean;
  readonly allowedRoots?: readonly string[];
  /** Paths in arguments and results that redaction masks in addition to its own. */
  readonly redaction?: readonly string[];
}

export interface ToolAnnotations {
  readonly title?: string;
  readonly kind?: ToolKind;
  readonly readOnly?: boolean;
  readonly destructive?: boolean;
  readonly idempotent?: boolean;
  readonly openWorld?: boolean;
  readonly needsApproval?: boolean;
  readonly supportsStreaming?: boolean;
  readonly sideEffectLevel?: SideEffectLevel;
  /**
   * Operations by capability, such as `{ workspace: ['read', 'write'] }`, for capability policies.
   */
  readonly capabilities?: Readonly<Record<string, readonly string[]>>;
  readonly safety?: ToolSafety;
}

export interface ToolHints {
  readonly readOnly: boolean;
  readonly destructive: boolean;
  readonly idempotent: boolean;
  readonly openWorld: boolean;
}

const known = new WeakMap<ToolAnnotations, ToolHints>();

/**
 * The four MCP hints with MCP's defaults: what is not said is destructive and open to the world.
 */
export function hintsOf(annotations: ToolAnnotations): ToolHints {
  // Every call of a tool asks with the same frozen annotations.
  let hints = known.get(annotations);
  if (hints === undefined) {
    hints = hintsFrom(annotations);
    if (Object.isFrozen(annotations)) known.set(annotations, hints);
  }
  return hints;
}

function hintsFrom(annotations: ToolAnnotations): ToolHints {
  const readOnly = annotations.readOnly ?? false;
  return Object.freeze({
    readOnly,
    destructive: annotations.destructive ?? !readOnly,
    idempotent: annotations.idempotent ?? false,
    openWorld: annotations.openWorld ?? true,
  });
}

/** Annotations with the four hints filled in, as a call carries them. */
export const completeAnnotations = (annotations: ToolAnnotations = {}): ToolAnnotations =>
  Object.freeze({ ...annotations, ...hintsOf(annotations) });
