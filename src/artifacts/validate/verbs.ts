/** Words that names of tools begin with. */

const VERBS: ReadonlySet<string> = new Set(
  [
    'abort accept activate add allow analyse analyze announce answer append apply approve archive ask assign attach authenticate authorize await',
    'backup ban begin bind block book build bump buy calculate call cancel capture categorize charge check checkout choose classify clean clear clone',
    'close collect combine commit compare compile complete compress compute configure confirm connect convert copy count create cut debug decline',
    'decode decompress decrypt delegate delete deny deploy describe detach detect diff disable disconnect discover dismiss display download draft drop',
    'dump duplicate echo edit embed emit enable encode encrypt end enqueue ensure estimate evaluate exec execute expand explain export extract fetch',
    'fill filter find finish fix flag flush follow forecast format forward generate get give grant grep group guess hash hide highlight import index',
    'infer insert inspect install interpret invalidate invite invoke join kill label launch leave lint list load locate lock log look lookup make',
    'map mark match measure merge migrate modify monitor mount move mute navigate normalize notify open order organize parse pause pay perform pick',
    'pin ping place plan play plot poll pop post predict prepare press preview print process profile promote propose provision publish pull purge push',
    'put query quote rank read rebase rebuild recall receive recommend record recover redact redeem reduce refactor refresh refund register reject',
    'release reload remind remove rename render reopen reorder repair replace replay reply report request reschedule reserve reset resize resolve',
    'restart restore resume retrieve retry return reveal revert review revoke roll rollback rotate route run sample save scan schedule score scrape',
    'scroll search select sell send serve set share ship show sign simulate skip sort split spawn stage star start stat stop store stream submit',
    'subscribe suggest summarise summarize suspend swap switch sync tag tail take test think tidy toggle touch trace track train transcribe transfer',
    'transform translate trigger trim truncate try type unblock uninstall unlock unpack unpublish unsubscribe update upgrade upload use validate',
    'verify view visit wait wake walk warn watch withdraw write zip',
  ]
    .join(' ')
    .split(' '),
);

/** Not every verb there is: a word that is missing costs somebody a warning. */
export const isVerb = (word: string): boolean => VERBS.has(word);
