/** The stacks that are compared, in the order of the report. */

import { alliumStack } from './stack-allium.ts';
import { handStack } from './stack-hand.ts';
import { langChainNode, langChainStack } from './stack-langchain.ts';
import { ownLangChainNode } from './stack-langchain-own.ts';
import type { Governed } from './stack-scenario.ts';

export type Stack = Governed & { readonly folder: string };

export const STACKS: readonly (() => Stack | Promise<Stack>)[] = [
  handStack,
  alliumStack,
  langChainStack,
  langChainNode,
  ownLangChainNode,
];
