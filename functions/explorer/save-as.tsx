/** The window that makes an endpoint of what is on the page. */
import { Drafting, Field, LabelledMenu, openAfresh } from './drafting.tsx'
import type { Savable } from './logs/as-endpoint.ts'
import { draftEndpoint, type Endpoint, listEndpoints } from './service.ts'

interface Props {
  apiKey: string
  endpoint: Endpoint
  /** What can be one; none where nothing can. */
  all: Savable[]
  close(): void
}

/** What is written in the fields. */
interface Asked {
  title: string
  name: string
  description: string
}

export function SaveAs({ apiKey, endpoint, all, close }: Props) {
  const [first] = all
  if (!first)
    return (
      <p class="hint">The saved query is an endpoint already. Write SQL of your own, or go to the logs.</p>
    )
  const chosen = (title: string) => all.find(each => each.title === title)!
  const madeOf = ({ title }: Asked) => chosen(title).made
  /** Until one writes another. */
  const described = (title: string) => {
    const { about } = chosen(title)
    const from = `Made on the page, of ${endpoint.name}.`
    return about === '' ? from : `${title}: ${about}. ${from}`
  }
  return (
    <Drafting<Asked>
      first={{
        title: first.title,
        name: `${endpoint.name}.mine`,
        description: described(first.title),
      }}
      what="The endpoint"
      draft={(asked, write) => {
        const own = { name: asked.name.trim(), description: asked.description.trim() }
        return draftEndpoint(apiKey, endpoint, { ...madeOf(asked), ...own }, write)
      }}
      isThere={async ({ name }) => (await listEndpoints(apiKey)).some(each => each.name === name.trim())}
      open={asked => {
        close()
        openAfresh(asked.name.trim(), endpoint, madeOf(asked).values)
      }}
      fields={({ title, name, description }, change) => (
        <>
          {all.length > 1 && (
            <LabelledMenu
              label="What becomes an endpoint"
              choices={all.map(each => [each.title, each.title])}
              chosen={title}
              act={to => {
                const isOwn = description !== described(title)
                change({ title: to, ...(isOwn ? {} : { description: described(to) }) })
              }}
            />
          )}
          <Field label="Name" text={name} change={text => change({ name: text })} />
          <Field label="Description" text={description} change={text => change({ description: text })} />
        </>
      )}
    />
  )
}
