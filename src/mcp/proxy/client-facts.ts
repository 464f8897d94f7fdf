/** Protocol, capabilities and name of a client, read from its messages. */

import { oneLine } from '../../core/contract/errors.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import { METHODS, objectAt } from '../wire.ts';
import type { Incoming } from './link.ts';

export interface ClientFacts {
  /** From `initialize`; modern clients repeat their capabilities in every request. */
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
      } else if (method === METHODS.initialize) {
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
