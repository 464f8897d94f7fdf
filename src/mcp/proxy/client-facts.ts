/** What a client says of itself as its messages pass by. */

import { oneLine } from '../../core/contract/errors.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import { objectAt } from '../wire.ts';
import type { Incoming } from './incoming.ts';

export interface ClientFacts {
  /** Of a client that greeted; others say in every request what they can do. */
  readonly capabilities: JsonObject;
  readonly protocol: string | null;
  readonly name: string;
  note(incoming: Incoming): void;
}

export function clientFacts(): ClientFacts {
  let capabilities: JsonObject = {};
  let protocol: string | null = null;
  let name = NOBODY;
  return {
    get capabilities() {
      return capabilities;
    },
    get protocol() {
      return protocol;
    },
    get name() {
      return name;
    },
    note({ method, params, meta, modernVersion }) {
      if (modernVersion !== null) {
        protocol = modernVersion;
        name = nameOf(objectAt(meta, 'io.modelcontextprotocol/clientInfo'));
      } else if (method === 'initialize') {
        const { protocolVersion } = params;
        capabilities = objectAt(params, 'capabilities');
        protocol = typeof protocolVersion === 'string' ? protocolVersion : null;
        name = nameOf(objectAt(params, 'clientInfo'));
      }
    },
  };
}

const NOBODY = 'the client';

const nameOf = ({ name }: JsonObject): string =>
  typeof name === 'string' && name !== '' ? oneLine(name).slice(0, 100) : NOBODY;
