// @ts-check
/**
 * Whether somebody says that they want to stop the conversation for now. By phrases of English that fill a clause: "let's
 * stop here" does, "let's stop using REST" does not. It is for asking, never for acting: whoever is asked may say no.
 */

const WHEN = String.raw`(?:(?:for|until|till|on|in|this|next|at) )?(?:now|today|tonight|tonite|tomorrow|later|soon|\w+day|morning|evening|weekend|week|one (?:day|night)|the (?:day|night|moment|evening|weekend|week|time being|morning)|(?:an?|another) (?:bit|while|moment|minute|min|sec|second|hour|time|day)|(?:a few|\d+|two|five|ten) (?:minutes|mins|hours|days))`;
/** What a conversation is called by who is in it. */
const THIS = String.raw`(?:it|this|that|things|here|(?:this|the|our) (?:session|conversation|chat|discussion|thread))`;
const AGAIN = String.raw`(?:continue|finish|resume|proceed|go on|carry on|come back|be back|get back|return|pick ${THIS}(?: back)? up|pick up)`;
const BEHIND = String.raw`(?:(?: ?(?:right )?(?:here|there)| (?:for|until|till|after|before) (?:lunch|dinner|breakfast|bed|sleep|work|the (?:weekend|night|holidays?|break))| ${WHEN}| again| please| pls| thanks?| thank you| thx| cheers| ok(?:ay)?| then| i think| i guess| guys| everyone| all| too| already| (?:because|cause|cos|since) .*| and (?:i ?ll )?${AGAIN}(?: .*)?)*)`;
const BEFORE = String.raw`(?:(?:ok(?:ay)?|k|al ?right|all right|right|well|so|and|but|then|now|great|good|cool|nice|perfect|thanks?(?: you| a lot)?|thx|sorry|hey|yes|yeah|no|please|pls|actually|anyway|(?:great|good|nice) (?:work|job)|i think|i guess|i m afraid|i believe|maybe|unfortunately) )*`;

const HALT = String.raw`(?:stop|pause|finish|quit|end|halt|rest|wrap(?: (?:${THIS}|things))? up|finish up|call it (?:a|an) (?:day|night|evening)|call it quits|(?:stop|pause|end|finish|leave|park) ${THIS}(?: (?:there|here|at that))?|leave it (?:there|here|at that)|(?:take|have) (?:a|some) (?:short |quick |little )?(?:break|rest|pause)|break|sleep on it)`;
const LETS = String.raw`(?:let s|lets|let us|can we|could we|shall we|should we|we (?:can|could|should|ll|will|need to|have to|must)|i (?:want|need|have|would like|d like|ll have) to|i ll|i will|i m going to|i am going to|i gotta|i must|time to|please)`;
const GO = String.raw`(?:go|leave|run|dash|jump|drop|sleep|stop|rest|be (?:off|going)|get (?:going|moving|off|some (?:sleep|rest))|head (?:out|off|home|to (?:bed|work|lunch|dinner))|step (?:away|out)|log (?:off|out)|sign off|go (?:home|offline|afk|to (?:bed|sleep|work|lunch|dinner|(?:a|my|the) meeting))|(?:pick up|get|fetch|feed|see) (?:the|my) (?:kids?|children|dog|cat|family)|catch (?:a|my|the) (?:train|bus|flight|plane)|eat|go (?:and )?(?:pick up|get|fetch|feed|eat|sleep|catch|make|cook)(?: .*)?)`;
const MUST = String.raw`(?:(?:i|we)(?: (?:really|also|now|do|d))? ?(?:need to|have to|have got to|ve got to|got to|gotta|must|should|ought to|better|will|ll)|(?:need to|have to|got to|gotta|must))`;
const NOW = String.raw`(?:off|out|leaving|going(?: (?:home|offline|to bed|to sleep|to (?:go )?(?:to )?(?:sleep|bed|lunch|dinner)|afk|now|to go home))?|heading (?:home|out|off|to bed)|logging (?:off|out)|signing (?:off|out)|off to (?:bed|sleep|lunch|dinner|work|(?:a|my|the) meeting)|afk|calling it (?:a (?:day|night)|quits)|stopping (?:here|now|for now)|stopping|wrapping up|(?:too|so|very|getting)(?: too| so)? tired(?: to (?:go on|continue|think|work))?(?: let ?s stop)?|tired(?: now)?|exhausted)`;
const SLEEPY = String.raw`(?:break|lunch|dinner|bed|sleep|food|a break|a (?:short|quick|little) break|(?:some )?(?:sleep|rest))`;
const FAREWELL = String.raw`(?:(?:good ?)?bye(?: ?bye)?(?: for now)?|good ?night|nighty? night|gn|see (?:you|ya|u)(?: (?:later|soon|then|around|there|again))?|cya|c ya|ttyl|talk (?:to (?:you|u) )?(?:later|soon|tomorrow)|g2g|gtg|brb|bbl|bbs|be (?:right )?back|afk|(?:catch|talk to) you later|until (?:then|tomorrow|next time)|take care|have a (?:good|nice|great) (?:day|night|evening|weekend|one))`;

/**
 * @internal
 * What fills the clause; and words without which no clause says it, so that `says` is compiled only where they stand.
 * @type {{ says: string, needs: RegExp }[]}
 */
export const PHRASES = [
  { says: `${LETS} ${HALT}`, needs: / (?:stop|pause|finish|quit|end|halt|rest|wrap|call it|leave|park|(?:take|have) (?:a|some)|break|sleep)/ },
  // Alone it may be what is done just now that shall stop.
  { says: `(?:stop|pause|finish)(?: (?:it|this|here|there))?(?= (?:for|until|please|and)\\b)`, needs: /\b(?:stop|pause|finish).* (?:for|until|please|and)\b/ },
  { says: `${MUST} ${GO}`, needs: /(?:to|gotta|must|should|better|will|ll) (?:go|leave|run|dash|jump|drop|sleep|stop|rest|be|get|head|step|log|sign|pick|fetch|feed|see|catch|eat)/ },
  { says: `(?:i am|i m|im|we are|we re) ${NOW}`, needs: /\b(?:am|m|im|are|re) (?:off|out|leaving|going|heading|logging|signing|afk|calling|stopping|wrapping|too|so|very|getting|tired|exhausted)/ },
  { says: `(?:signing|logging) off|calling it (?:a (?:day|night)|quits)|stopping(?: here)?(?= for )`, needs: /\b(?:signing|logging|calling|stopping)/ },
  { says: `(?:(?:i am|i m|im|we are|we re|all) )?done(?= for )`, needs: /\bdone for / },
  { says: `(?:that s|thats|that is|that was|that will be|that ll be|this is|it s|let that be) (?:it|all|enough|everything)(?= (?:for|from me)\\b)(?: from me)?`, needs: / (?:it|all|enough|everything) (?:for|from me)\b/ },
  { says: `(?:that s|thats|that is) enough`, needs: /\bthat.* enough/ },
  { says: `(?:that will|that ll|thatll|this will|it ll) do(?= for )`, needs: / do for / },
  { says: `enough(?= for )`, needs: /\benough for / },
  { says: `(?:time for|(?:i )?(?:need|want)(?: a)?|off to|going to|(?:it s|its)) ${SLEEPY}(?: time)?`, needs: / (?:break|lunch|dinner|bed|sleep|food|rest)/ },
  { says: `time to (?:go|leave|sleep|go (?:home|to bed|to sleep)|stop|head (?:home|out)|log off)`, needs: /\btime to / },
  { says: `(?:${LETS}|i|we|will) ${AGAIN}(?: ${THIS}| with ${THIS})?(?=.* ?\\b(?:${WHEN}|when i .*|after .*|another time)$)(?: (?:in|on|after|another|when|from) .*)?`, needs: / (?:continue|finish|resume|proceed|go on|carry on|come|be|get|return|pick)/ },
  { says: `hold that thought`, needs: /\bhold that/ },
  { says: FAREWELL, needs: /\b(?:goodbye|bye|good|night|gn|see|cya|c ya|ttyl|talk|g2g|gtg|brb|bbl|bbs|be|back|afk|catch|until|take|have)/ },
];

/** @type {Map<string, RegExp>} */
const compiled = new Map();

/** @internal The whole clause, with what may stand before and behind. Compiled when it is wanted: all of them would take half of a hook's time. @param {string} says */
export function wholeClause(says) {
  const known = compiled.get(says) ?? new RegExp(`^${BEFORE}(?:${says})${BEHIND}$`);
  compiled.set(says, known);
  return known;
}

/** Words that are mistyped by two letters that changed places. */
const TYPED = ["stop", "pause", "wrap", "today", "tonight", "tomorrow", "later", "enough", "continue", "break", "night", "leave", "going", "let's", "need", "have", "finish", "resume"];
/** Of a message longer than this only the first and the last clauses are looked at: the rest tells of something. */
const LONG = 40;

/**
 * What in a user's message says that the conversation is to stop for now: "let's stop", "that's enough for today", "I need to
 * go". In English; nothing for what only resembles it, "stop the server". Ask then whether to save; do nothing without an answer.
 * @param {string} text
 * @returns {string | undefined} the clause that says so
 * @example
 * pausePhrase("Thanks, let's stop here."); // => "let's stop here"
 * pausePhrase("stop the server"); // => undefined
 */
export function pausePhrase(text) {
  const clauses = String(text)
    // What is quoted is not said.
    .replace(/```[\s\S]*?(?:```|$)|`[^`\n]*`|"[^"\n]*"|“[^”\n]*”/g, " quoted ")
    .split(/[.!?;:…,]+(?=\s|$)|[!?]+|\n+|\s[-–—]+\s|\u2014|[()]/)
    .map((clause) => clause.trim())
    .filter((clause) => /\p{L}/u.test(clause));
  const words = clauses.reduce((sum, clause) => sum + clause.split(/\s+/).length, 0);
  const looked = words > LONG ? [...clauses.slice(0, 1), ...clauses.slice(-2)] : clauses;
  return looked.find((clause) => clause.length < 200 && isPause(plain(clause)));
}

/** @param {string} clause */
function isPause(clause) {
  return PHRASES.some(({ says, needs }) => needs.test(clause) && wholeClause(says).test(clause));
}

/** Words in lower case, with a blank between them and none of what else a clause has. @param {string} clause */
function plain(clause) {
  const words = clause.toLowerCase().normalize("NFKC").replace(/[’‘´]/g, "'").replace(/\btom+or+ow\b/g, "tomorrow");
  return words
    .split(/\s+/)
    .map((word) => word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ""))
    .map((word) => TYPED.find((right) => isSwapped(word, right)) ?? word)
    .filter(Boolean)
    .join(" ")
    .replaceAll("'", " ");
}

/** Whether two letters beside each other have changed places. @param {string} word @param {string} right */
function isSwapped(word, right) {
  if (word.length !== right.length || word === right) return false;
  const at = [...right].findIndex((letter, place) => letter !== word[place]);
  return word === right.slice(0, at) + right[at + 1] + right[at] + right.slice(at + 2);
}
