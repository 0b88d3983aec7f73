/** The build reads the worked examples out of the page on SQL of one's own. */
declare module '*/queries/README.md' {
  const examples: { title: string; sql: string }[]
  export default examples
}
