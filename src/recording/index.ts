/** `allium/recording`: files of calls and their answers, written, read and answered from. */

export {
  type AnswerBook,
  type Missing,
  orderedBook,
  replayedResult,
  strictBook,
} from './answer-book.ts';
export { isPlace } from './line-file.ts';
export { type RecordedAnswer, type RecordedCall, type Recording } from './read-recording.ts';
export { readRecording } from './read-recording.ts';
export type { Begun } from './recorded-line.ts';
export { openRecorder, type Recorder } from './recorder.ts';
