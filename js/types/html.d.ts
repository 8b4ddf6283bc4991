/** What the HTML file of a session has. */
export interface HtmlOptions {
  /** The page without scripts also has the messages of other branches, marked. The session in the file has them always. */
  allBranches?: boolean;
}
