/** Which two characters of a word, with the one before them, are the rarest in ordinary text. */

/**
 * From the most frequent character of ordinary text, ids and logs to the rarest; all others are
 * rarer.
 */
const FREQUENT = ' etaoinsrhldcumfpgwyb0123456789-.,:/"\'vkx=TASICMPRNED_jqz';
const rarity = (char: string): number =>
  FREQUENT.includes(char) ? FREQUENT.indexOf(char) : FREQUENT.length;
/**
 * Three letters that stand in ordinary text more often than their rarity tells, the most frequent
 * first.
 */
const FREQUENT_THREES: ReadonlySet<string> = new Set(
  (
    'the ion ing tio ent con ons and for str ort com pro por sta ter ode all tri ver est int ers typ ype ect ate nst rea ' +
    'res lin htt ttp ith nde age nte ati ist ted exp ile tes che ame rom rin thi cti fil are ser ind use eve ret ess his ' +
    'sio lic aac nod les tor tur caa cal ble nam val mpl ple par men met ine org fro ead ice wit err ext pti cha urn ens ' +
    'abl def ope per dis mod der etu pat enc ele unc get pen tps key not fun equ ain her ass ult tat ack hat end xpo tho ' +
    'opt ipt ont scr lib nct ord git ite ore nse imp req our eme cri han dex ace tra out ire omp ste cen dat ach jec pre ' +
    'set ang rip man ule deb tha ete orm rsi ten war ven rro cop igh mit ror ins rce ide lue tch pac aut mat own ime wor ' +
    'rec ool und alu let ght nts gen ran try era tem ove rig mpo ces rep odu ber ian art cod esc lea etr sou'
  ).split(' '),
);

/** What a word more in the same bucket costs, against rarity. */
const NEIGHBOUR = 14;
/** What a character costs that the word does not tell, and one that is no letter or digit. */
const UNTOLD = 80;
const BETWEEN = 55;

/**
 * The pair of this parity that is the rarest together with the character before it, and that few
 * other words are seen by. A line of one character is as long as it likes: such a word is seen by
 * how it begins.
 */
export function rarestPair(
  word: string,
  parity: number,
  begins: boolean,
  neighboursAt: (place: number) => number,
): number {
  if (begins && new Set(word).size === 1) return -parity;
  let best = parity;
  let rank = -Infinity;
  for (let at = parity; at < word.length; at += 2) {
    const seen = word.slice(Math.max(0, at - 1), at + 2);
    if (seen.length < 2) continue;
    const isFrequent = new Set(seen).size === 1 || FREQUENT_THREES.has(seen.toLowerCase());
    const rare = isFrequent ? -30 : Array.from(seen).reduce((sum, char) => sum + rarity(char), 0);
    const own =
      rare -
      (seen.length === 3 ? 0 : begins && at === 0 ? BETWEEN : UNTOLD) -
      neighboursAt(at) * NEIGHBOUR;
    if (own > rank) [best, rank] = [at, own];
  }
  return best;
}
