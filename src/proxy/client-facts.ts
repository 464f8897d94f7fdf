/** What a client says of itself as its messages pass by. */

import { oneLine } from '../core/errors.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import { metaOf, modernVersionOf, objectAt, paramsOf, type WireMessage } from './wire.ts';

export interface ClientFacts {
  /** Of a client that greeted; others say in every request what they can do. */
  readonly capabilities: JsonObject;
  readonly protocol: string | null;
  readonly name: string;
  note(message: WireMessage): void;
}

export function clientFacts(): ClientFacts {
  let [capabilities, protocol, name]: [JsonObject, string | null, string] = [{}, null, NOBODY];
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
    note(message) {
      const modern = modernVersionOf(message);
      if (modern !== null) {
        protocol = modern;
        name = nameOf(objectAt(metaOf(message), 'io.modelcontextprotocol/clientInfo'));
      } else if (message.method === 'initialize') {
        const { capabilities: said, protocolVersion } = paramsOf(message);
        capabilities = isObject(said) ? said : {};
        protocol = typeof protocolVersion === 'string' ? protocolVersion : null;
        name = nameOf(objectAt(paramsOf(message), 'clientInfo'));
      }
    },
  };
}

const NOBODY = 'the client';

const nameOf = ({ name }: JsonObject): string =>
  typeof name === 'string' && name !== '' ? oneLine(name).slice(0, 100) : NOBODY;
