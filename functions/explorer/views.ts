/** Views of an endpoint that are kept under names: by the service for others, and on this device. */
import { type Signal, signal } from '@preact/signals'
import type { View, ViewText } from '../../shared/endpoints/views.ts'
import { readItem, writeItem } from './local-storage.ts'
import { addressOfSql } from './recent.ts'
import { type Endpoint, listViews, removeView, saveView, ServiceError } from './service.ts'

/** Where views are: those that are saved there can be changed. */
interface Shelf {
  list(): Promise<ViewText[]> | ViewText[]
  /** @param before the view that it takes the place of */
  put(text: ViewText, before?: ViewText): Promise<void> | void
  remove(view: ViewText): Promise<void> | void
}

/** For others who may call the endpoint. */
function onService(key: string, endpoint: Endpoint): Shelf {
  return {
    list: () => listViews(key, endpoint),
    put: (text, before) => saveView(key, endpoint, text, before as View | undefined),
    remove: view => removeView(key, endpoint, view as View),
  }
}

/** In this browser, with the queries that it saved before there were views. */
function onDevice({ name: endpoint }: Endpoint): Shelf {
  const item = `views ${endpoint}`
  const list = () => {
    const queries = (readItem(`saved ${endpoint}`) as { name: string; sql: string }[] | null) ?? []
    return (
      (readItem(item) as ViewText[] | null) ??
      queries.map(({ name, sql }) => ({ name, address: addressOfSql(endpoint, sql) }))
    )
  }
  const without = (...names: (string | undefined)[]) => list().filter(({ name }) => !names.includes(name))
  return {
    list,
    put: (text, before) => writeItem(item, [...without(text.name, before?.name), text]),
    remove: ({ name }) => writeItem(item, without(name)),
  }
}

/** The views of one shelf, as they were last read, and what became of the last change. Calls go one after the other. */
export class Views {
  readonly all: Signal<ViewText[]> = signal([])
  readonly said = signal('')
  /** Whether a change is on its way. */
  readonly isBusy = signal(false)
  /** A view of the name that is to be saved, which a second press replaces. */
  readonly same = signal<ViewText | null>(null)
  readonly #shelf: Shelf
  #last = Promise.resolve()

  constructor(shelf: Shelf) {
    this.#shelf = shelf
  }

  /** Where the key may save, and where it may only look. */
  static of(key: string, endpoint: Endpoint): { saved: Views; device: Views; own: Views } {
    const [saved, device] = [new Views(onService(key, endpoint)), new Views(onDevice(endpoint))]
    return { saved, device, own: endpoint.maySaveViews ? saved : device }
  }

  /** Nobody waits for it, so it disables nothing, and says nothing but why it failed. */
  read(): Promise<void> {
    return this.#inTurn(async () => {
      this.said.value = (await problemOf(() => this.#list())) || this.said.value
    })
  }

  save(text: ViewText): Promise<void> {
    return this.#change(async () => {
      await this.#list()
      const same = this.all.value.find(({ name }) => name === text.name)
      const isAsked = same !== undefined && this.same.value?.name !== text.name
      this.same.value = isAsked ? same : null
      if (isAsked) return ''
      await this.#shelf.put(text, same)
      return `Saved as ${text.name}.`
    })
  }

  rename(view: ViewText, name: string): Promise<void> {
    return this.#change(async () => {
      await this.#shelf.put({ name, address: view.address }, view)
      return `${view.name} is ${name} now.`
    })
  }

  remove(view: ViewText): Promise<void> {
    return this.#change(async () => {
      await this.#shelf.remove(view)
      return `Deleted ${view.name}.`
    })
  }

  /**
   * Reads them again, too, also after a change that failed: another may have come first.
   * @param act answers what was done
   */
  #change(act: () => Promise<string>): Promise<void> {
    this.isBusy.value = true
    return this.#inTurn(async () => {
      let done = ''
      const problem = await problemOf(async () => void (done = await act()))
      const unread = await problemOf(() => this.#list())
      this.said.value = problem || unread || done
      this.isBusy.value = false
    })
  }

  async #list(): Promise<void> {
    this.all.value = await this.#shelf.list()
  }

  #inTurn(call: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(call, call)
    return this.#last
  }
}

/** What the service says against it; empty where it says nothing. */
async function problemOf(call: () => Promise<void>): Promise<string> {
  try {
    await call()
    return ''
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return error.problem.detail
  }
}
