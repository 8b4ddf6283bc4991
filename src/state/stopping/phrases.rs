//! The phrases of somebody who wants to stop, as patterns; [`super::matcher`] explains their syntax.

/// A whole clause: the phrase that fills it, with what may come before and after.
pub(super) const CLAUSE: &str = "<OPENERS> <PHRASE> <CLOSERS> $";

/// The patterns that others refer to.
pub(super) const PATTERNS: [(&str, &str); 14] = [
    ("OPENERS", OPENERS),
    ("PHRASE", PHRASE),
    ("CLOSERS", CLOSERS),
    ("TIMES", TIMES),
    ("TALK", TALK),
    ("RESUME", RESUME),
    ("HALT", HALT),
    ("PLAN", PLAN),
    ("GO", GO),
    ("DUTY", DUTY),
    ("PARTING", PARTING),
    ("REST", REST),
    ("FAREWELL", FAREWELL),
    ("IAM", "(i am|i m|im|we are|we re)"),
];

const PHRASE: &str = "(<PLAN> <HALT>\
    |(stop|pause|finish) (it|this|here|there)? &((for|until|please|and))\
    |<DUTY> <GO>\
    |<IAM> <PARTING>\
    |(signing|logging) off|calling it (a (day|night)|quits)|stopping here? &(for _)\
    |(<IAM>|all)? done &(for _)\
    |(that s|thats|that is|that was|that will be|that ll be|this is|it s|let that be) (it|all|enough|everything) &((for|from me)) (from me)?\
    |(that s|thats|that is) enough\
    |(that will|that ll|thatll|this will|it ll) do &(for _)\
    |enough &(for _)\
    |(time for|i? (need|want) a?|off to|going to|it s|its) <REST> time?\
    |time to (go|leave|sleep|go (home|to bed|to sleep)|stop|head (home|out)|log off)\
    |(<PLAN>|i|we|will) <RESUME> (<TALK>|with <TALK>)? &(.. (<TIMES>|when i _ ..|after _ ..|another time) $) ((in|on|after|another|when|from) _ ..)?\
    |hold that thought\
    |<FAREWELL>)";

const TIMES: &str = "(for|until|till|on|in|this|next|at)? \
    (now|today|tonight|tonite|tomorrow|later|soon|~day|morning|evening|weekend|week|one (day|night)\
    |the (day|night|moment|evening|weekend|week|time being|morning)\
    |(a|an|another) (bit|while|moment|minute|min|sec|second|hour|time|day)\
    |(a few|#|two|five|ten) (minutes|mins|hours|days))";

// Names that participants give the conversation.
const TALK: &str = "(it|this|that|things|here|(this|the|our) (session|conversation|chat|discussion|thread))";

const RESUME: &str = "(continue|finish|resume|proceed|go on|carry on|come back|be back|get back|return|pick <TALK> back? up|pick up)";

const CLOSERS: &str = "(right? (here|there)\
    |(for|until|till|after|before) (lunch|dinner|breakfast|bed|sleep|work|the (weekend|night|holiday|holidays|break))\
    |<TIMES>|again|please|pls|thank|thanks|thank you|thx|cheers|ok|okay|then|i think|i guess|guys|everyone|all|too|already\
    |(because|cause|cos|since) _ ..|and (i ll|ill)? <RESUME> ..)*";

const OPENERS: &str = "(ok|okay|k|alright|al right|all right|right|well|so|and|but|then|now|great|good|cool|nice|perfect\
    |(thank|thanks) (you|a lot)?|thx|sorry|hey|yes|yeah|no|please|pls|actually|anyway|(great|good|nice) (work|job)\
    |i think|i guess|i m afraid|i believe|maybe|unfortunately)*";

const HALT: &str = "(stop|pause|finish|quit|end|halt|rest|wrap (<TALK>|things)? up|finish up|call it (a|an) (day|night|evening)\
    |call it quits|(stop|pause|end|finish|leave|park) <TALK> (there|here|at that)?|leave it (there|here|at that)\
    |(take|have) (a|some) (short|quick|little)? (break|rest|pause)|break|sleep on it)";

const PLAN: &str = "(let s|lets|let us|can we|could we|shall we|should we|we (can|could|should|ll|will|need to|have to|must)\
    |i (want|need|have|would like|d like|ll have) to|i ll|i will|i m going to|i am going to|i gotta|i must|time to|please)";

const GO: &str = "(go|leave|run|dash|jump|drop|sleep|stop|rest|be (off|going)|get (going|moving|off|some (sleep|rest))\
    |head (out|off|home|to (bed|work|lunch|dinner))|step (away|out)|log (off|out)|sign off\
    |go (home|offline|afk|to (bed|sleep|work|lunch|dinner|(a|my|the) meeting))\
    |(pick up|get|fetch|feed|see) (the|my) (kid|kids|children|dog|cat|family)|catch (a|my|the) (train|bus|flight|plane)|eat\
    |go and? (pick up|get|fetch|feed|eat|sleep|catch|make|cook) ..)";

const DUTY: &str = "((i|we) (really|also|now|do|d)? (need to|have to|have got to|ve got to|got to|gotta|must|should|ought to|better|will|ll)\
    |ill|well|need to|have to|got to|gotta|must)";

const PARTING: &str = "(off|out|leaving|going (home|offline|to bed|to sleep|to go? to? (sleep|bed|lunch|dinner)|afk|now|to go home)?\
    |heading (home|out|off|to bed)|logging (off|out)|signing (off|out)|off to (bed|sleep|lunch|dinner|work|(a|my|the) meeting)\
    |afk|calling it (a (day|night)|quits)|stopping (here|now|for now)?|wrapping up\
    |(too|so|very|getting) (too|so)? tired (to (go on|continue|think|work))? (let s stop|lets stop)?|tired now?|exhausted)";

const REST: &str = "(break|lunch|dinner|bed|sleep|food|a (short|quick|little)? break|some? (sleep|rest))";

const FAREWELL: &str = "((good bye|goodbye|bye|byebye) bye? (for now)?|good night|goodnight|(night|nighty) night|gn\
    |see (you|ya|u) (later|soon|then|around|there|again)?|cya|c ya|ttyl|talk (to (you|u))? (later|soon|tomorrow)|g2g|gtg|brb|bbl|bbs\
    |be right? back|afk|(catch|talk to) you later|until (then|tomorrow|next time)|take care\
    |have a (good|nice|great) (day|night|evening|weekend|one))";
