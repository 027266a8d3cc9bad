-- The first schema. Edges remember what the text said; where they end now is derived from the
-- folds by the views below, never stored, so that a revert has nothing to repair.

CREATE TABLE memory (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    content     TEXT NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('fact', 'preference', 'episode', 'procedure', 'document')),
    title       TEXT,                     -- of a passage: the headings it stands under
    area        TEXT,                     -- filing labels, which no search reads
    topic       TEXT,
    agent       TEXT,                     -- who wrote it
    source      TEXT,
    source_tag  TEXT,
    caller_id   TEXT UNIQUE,              -- idempotency: the same piece is stored once
    digest      TEXT UNIQUE,              -- of text and seal, where it holds and came without caller_id:
    repeats     INTEGER NOT NULL DEFAULT 0,  -- the same text again is counted here
    document_id INTEGER REFERENCES memory(id) ON DELETE CASCADE,   -- the document it is a passage of
    follows_id  INTEGER REFERENCES memory(id) ON DELETE SET NULL,  -- the version before it
    created_at  TEXT NOT NULL
);
CREATE INDEX memory_document ON memory (document_id) WHERE document_id IS NOT NULL;
CREATE INDEX memory_follows ON memory (follows_id) WHERE follows_id IS NOT NULL;

-- Memories whose edges don't count: those that no longer hold, and those that are sealed for one agent
-- and enter nothing that is shared. A table of its own: whether each of a hub's thousands of memories is
-- in it is asked with every count, and reading the memories themselves for that took eight times as long.
CREATE TABLE uncounted (
    memory_id  INTEGER PRIMARY KEY REFERENCES memory(id) ON DELETE CASCADE,
    stale      INTEGER NOT NULL,
    sealed_for TEXT,
    CHECK (stale OR sealed_for IS NOT NULL)
);

-- Stored, but not read yet for what it names: whatever fails later, the text is not lost.
CREATE TABLE unread (
    memory_id INTEGER PRIMARY KEY REFERENCES memory(id) ON DELETE CASCADE,
    tries     INTEGER NOT NULL DEFAULT 0,
    error     TEXT
);

CREATE TABLE entity (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    spelling     TEXT NOT NULL CHECK (spelling <> ''),
    key          TEXT NOT NULL,
    sense        INTEGER NOT NULL DEFAULT 0,
    merge_key    TEXT NOT NULL,           -- empty where the name has no letter or digit
    fold_key     TEXT NOT NULL,
    type         TEXT,
    source_tag   TEXT,
    foreign_id   TEXT,
    attributes   TEXT,                    -- what the source said beside, as JSON
    alias_only   INTEGER NOT NULL DEFAULT 0,  -- never an entity of its own: an old or imported spelling
    folded_into  INTEGER REFERENCES entity(id),
    canonical_id INTEGER NOT NULL REFERENCES entity(id) DEFERRABLE INITIALLY DEFERRED,
    again        INTEGER NOT NULL DEFAULT 0,  -- to be looked at again (see resolve); new rows are anyway
    created_at   TEXT NOT NULL,
    UNIQUE (key, sense)
);
CREATE INDEX entity_canonical ON entity (canonical_id);
CREATE INDEX entity_folded ON entity (folded_into) WHERE folded_into IS NOT NULL;
CREATE INDEX entity_merge_key ON entity (merge_key);
CREATE INDEX entity_foreign ON entity (foreign_id) WHERE foreign_id IS NOT NULL;
CREATE INDEX entity_again ON entity (again) WHERE again = 1;

CREATE TABLE mention (
    id          INTEGER PRIMARY KEY,      -- from the edge counter: grows in writing order
    memory_id   INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
    asserted_id INTEGER NOT NULL REFERENCES entity(id) ON DELETE CASCADE,
    spelling    TEXT NOT NULL,
    UNIQUE (memory_id, asserted_id, spelling)
);
CREATE INDEX mention_asserted ON mention (asserted_id, memory_id);

CREATE TABLE fact (
    id          INTEGER PRIMARY KEY,      -- from the same counter
    memory_id   INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
    subject_id  INTEGER NOT NULL REFERENCES entity(id) ON DELETE CASCADE,
    predicate   TEXT NOT NULL,
    object_id   INTEGER REFERENCES entity(id) ON DELETE CASCADE,
    literal     TEXT,
    confidence  REAL NOT NULL DEFAULT 1.0,
    source_tag  TEXT,
    attributes  TEXT,                     -- what the source said beside, as JSON
    CHECK ((object_id IS NULL) <> (literal IS NULL))
);
CREATE UNIQUE INDEX fact_once ON fact (memory_id, subject_id, predicate, coalesce(object_id, 0), coalesce(literal, ''));
CREATE INDEX fact_subject ON fact (subject_id);
CREATE INDEX fact_object ON fact (object_id) WHERE object_id IS NOT NULL;

CREATE TABLE merge (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    canonical_id   INTEGER NOT NULL REFERENCES entity(id) ON DELETE CASCADE,
    canonical_name TEXT NOT NULL,
    absorbed_id    INTEGER NOT NULL REFERENCES entity(id) ON DELETE CASCADE,
    absorbed_name  TEXT NOT NULL,
    absorbed_type  TEXT,
    decided_by     TEXT NOT NULL CHECK (decided_by IN ('rule', 'human', 'model', 'import')),
    rule           TEXT NOT NULL,
    score          REAL NOT NULL,
    reason         TEXT NOT NULL,
    actor          TEXT,
    model          TEXT,
    conflict_id    INTEGER,
    run_id         INTEGER,
    asked_absorbed  INTEGER NOT NULL,  -- the rows the fold was asked for through, before both
    asked_canonical INTEGER NOT NULL,  -- sides were followed to their roots
    overruled      TEXT NOT NULL DEFAULT '[]',  -- JSON list of decision ids
    edge_mark      INTEGER NOT NULL,
    moved          INTEGER NOT NULL DEFAULT 0,
    silenced       INTEGER NOT NULL DEFAULT 0,
    created_at     TEXT NOT NULL,
    reverted_at    TEXT
);
CREATE UNIQUE INDEX merge_live ON merge (absorbed_id) WHERE reverted_at IS NULL;
CREATE INDEX merge_canonical ON merge (canonical_id, reverted_at);
CREATE INDEX merge_absorbed ON merge (absorbed_id);
CREATE INDEX merge_asked_absorbed ON merge (asked_absorbed) WHERE reverted_at IS NULL;
CREATE INDEX merge_asked_canonical ON merge (asked_canonical) WHERE reverted_at IS NULL;

-- The receipt of a fold, edge by edge.
CREATE TABLE merge_edge (
    merge_id INTEGER NOT NULL REFERENCES merge(id) ON DELETE CASCADE,
    edge_id  INTEGER NOT NULL,
    effect   TEXT NOT NULL CHECK (effect IN ('moved', 'silenced')),
    PRIMARY KEY (merge_id, edge_id, effect)
) WITHOUT ROWID;

-- Names in texts that lead to no entity by themselves: they fit several, or stood in sealed memories
-- alone. What the text said stays; it waits while row_id is null, and is linked where its name leads to
-- one entity, or a person chose. Derived: see linking.settle, which goes through unsettled_name.
CREATE TABLE unlinked (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
    key       TEXT NOT NULL,
    spelling  TEXT NOT NULL,
    type      TEXT,
    row_id    INTEGER,                    -- what it is linked to; and the mention that was written for
    edge_id   INTEGER,                    -- it: null where the memory had the same already
    UNIQUE (memory_id, spelling)
);
CREATE INDEX unlinked_key ON unlinked (key, row_id);

CREATE TABLE unlinked_fact (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id   INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
    subject_key TEXT NOT NULL,
    subject     TEXT NOT NULL,
    predicate   TEXT NOT NULL,
    object_key  TEXT NOT NULL,
    object      TEXT NOT NULL,
    confidence  REAL NOT NULL,
    source_tag  TEXT,
    subject_id  INTEGER,                  -- the rows it is linked to, both or none
    object_id   INTEGER,
    edge_id     INTEGER,
    UNIQUE (memory_id, subject_key, predicate, object_key)
);
CREATE INDEX unlinked_fact_subject ON unlinked_fact (subject_key, subject_id);
CREATE INDEX unlinked_fact_object ON unlinked_fact (object_key, object_id);

-- Names of texts whose entities have changed: looked at before the transaction ends.
CREATE TABLE unsettled_name (
    key TEXT PRIMARY KEY
) WITHOUT ROWID;

-- Names shown: the latest row of a root that is still in its cluster.
CREATE TABLE renaming (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    root_id    INTEGER NOT NULL REFERENCES entity(id) ON DELETE CASCADE,
    shown_id   INTEGER NOT NULL REFERENCES entity(id) ON DELETE CASCADE,
    actor      TEXT,
    created_at TEXT NOT NULL
);
CREATE INDEX renaming_root ON renaming (root_id, id);
CREATE INDEX renaming_shown ON renaming (shown_id);

CREATE TABLE decision (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    left_key    TEXT NOT NULL,
    left_sense  INTEGER NOT NULL,
    left_name   TEXT NOT NULL,
    right_key   TEXT NOT NULL,
    right_sense INTEGER NOT NULL,
    right_name  TEXT NOT NULL,
    decided_by  TEXT NOT NULL,
    actor       TEXT,
    why         TEXT NOT NULL,
    created_at  TEXT NOT NULL,
    undone_at   TEXT,
    undone_by   TEXT
);
CREATE INDEX decision_left ON decision (left_key, left_sense) WHERE undone_at IS NULL;
CREATE INDEX decision_right ON decision (right_key, right_sense) WHERE undone_at IS NULL;

CREATE TABLE conflict (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    kind         TEXT NOT NULL CHECK (kind IN ('entity', 'memory', 'name')),
    queued_id    INTEGER REFERENCES entity(id) ON DELETE CASCADE,     -- entity: the two rows;
    candidate_id INTEGER REFERENCES entity(id) ON DELETE CASCADE,     -- name: the row that was chosen
    queued_memory_id    INTEGER REFERENCES memory(id) ON DELETE CASCADE,  -- memory: the two
    candidate_memory_id INTEGER REFERENCES memory(id) ON DELETE CASCADE,
    made_memory_id      INTEGER REFERENCES memory(id) ON DELETE SET NULL, -- what an answer wrote
    name_key     TEXT,                    -- name: what it is asked about
    name         TEXT,
    asked_by     TEXT NOT NULL,
    rule         TEXT NOT NULL,
    score        REAL NOT NULL,
    reason       TEXT NOT NULL,
    impact       INTEGER NOT NULL,
    created_at   TEXT NOT NULL,
    answer       TEXT,
    answered_by  TEXT,
    merge_id     INTEGER,
    decision_id  INTEGER,
    decided_at   TEXT,
    CHECK (kind <> 'entity' OR (queued_id IS NOT NULL AND candidate_id IS NOT NULL)),
    CHECK (kind <> 'memory' OR (queued_memory_id IS NOT NULL AND candidate_memory_id IS NOT NULL)),
    CHECK (kind <> 'name' OR name_key IS NOT NULL)
);
CREATE UNIQUE INDEX conflict_pending ON conflict (min(queued_id, candidate_id), max(queued_id, candidate_id))
    WHERE answer IS NULL AND kind = 'entity';
CREATE UNIQUE INDEX conflict_name ON conflict (name_key) WHERE answer IS NULL AND kind = 'name';
CREATE UNIQUE INDEX conflict_memory ON conflict (min(queued_memory_id, candidate_memory_id),
    max(queued_memory_id, candidate_memory_id)) WHERE answer IS NULL AND kind = 'memory';
CREATE INDEX conflict_chosen ON conflict (name_key, id) WHERE kind = 'name';
CREATE INDEX conflict_queued_memory ON conflict (queued_memory_id) WHERE queued_memory_id IS NOT NULL;
CREATE INDEX conflict_candidate_memory ON conflict (candidate_memory_id)
    WHERE candidate_memory_id IS NOT NULL;
CREATE INDEX conflict_made_memory ON conflict (made_memory_id) WHERE made_memory_id IS NOT NULL;
CREATE INDEX conflict_open ON conflict (id) WHERE answer IS NULL;
CREATE INDEX conflict_decided ON conflict (decided_at, id) WHERE answer IS NOT NULL;
CREATE INDEX conflict_decision ON conflict (decision_id) WHERE decision_id IS NOT NULL;
CREATE INDEX conflict_queued ON conflict (queued_id);
CREATE INDEX conflict_candidate ON conflict (candidate_id);

-- Every pair of rows that a rule asks about. Pairs depend on the names alone, so this table is
-- written when names are examined and never touched by folds; what is left to ask is open_pair.
CREATE TABLE suggestion (
    left_id  INTEGER NOT NULL,                -- of rows there are: see suggestion_goes_with_its_row;
    right_id INTEGER NOT NULL,                -- foreign keys took half the time of a million pairs
    rule     TEXT NOT NULL,
    score    REAL NOT NULL,
    PRIMARY KEY (left_id, right_id),
    CHECK (left_id < right_id)
) WITHOUT ROWID;
CREATE INDEX suggestion_right ON suggestion (right_id);

-- What is left to ask: one row for each pair of roots that some suggestion leads to and that is
-- neither queued nor settled apart, with the best such suggestion and the weaker root's mentions.
-- Derived, so that a pass over few names need not go through all: it holds but for the pairs that
-- touch a row of unsettled or of a new mention, or its root: these are worked out anew when asked for.
CREATE TABLE open_pair (
    low      INTEGER NOT NULL,
    high     INTEGER NOT NULL,
    weight   INTEGER NOT NULL,
    score    REAL NOT NULL,
    left_id  INTEGER NOT NULL,
    right_id INTEGER NOT NULL,
    rule     TEXT NOT NULL,
    PRIMARY KEY (low, high)
) WITHOUT ROWID;
CREATE INDEX open_pair_high ON open_pair (high);
CREATE INDEX open_pair_rank ON open_pair (weight DESC, score DESC, low, high);

CREATE TABLE unsettled (
    entity_id INTEGER PRIMARY KEY             -- may be gone
);

-- Triggers mark, so that no writer can forget. Where nothing is suggested there is nothing to settle:
-- a first import and a first pass are spared the marks. New mentions need none: their ids grow, and
-- 'settled' in meta holds the last one seen. A trigger made adding them cost half as much again.
CREATE TRIGGER unsettled_by_fold AFTER UPDATE OF canonical_id ON entity
WHEN old.canonical_id <> new.canonical_id AND EXISTS (SELECT 1 FROM suggestion)
BEGIN
    INSERT INTO unsettled VALUES (old.canonical_id), (new.id) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER suggestion_goes_with_its_row AFTER DELETE ON entity
BEGIN
    DELETE FROM suggestion WHERE left_id = old.id;
    DELETE FROM suggestion WHERE right_id = old.id;
END;
-- Without a condition: the row's suggestions may be gone before the trigger runs.
CREATE TRIGGER unsettled_by_deletion AFTER DELETE ON entity
BEGIN
    INSERT INTO unsettled VALUES (old.canonical_id), (old.id) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER unsettled_by_lost_mention AFTER DELETE ON mention
WHEN EXISTS (SELECT 1 FROM suggestion)
BEGIN
    INSERT INTO unsettled VALUES (old.asserted_id) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER unsettled_by_uncounted_memory AFTER INSERT ON uncounted
WHEN EXISTS (SELECT 1 FROM suggestion)
BEGIN
    INSERT INTO unsettled SELECT asserted_id FROM mention WHERE memory_id = new.memory_id
    ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER unsettled_by_counted_memory AFTER DELETE ON uncounted
WHEN EXISTS (SELECT 1 FROM suggestion)
BEGIN
    INSERT INTO unsettled SELECT asserted_id FROM mention WHERE memory_id = old.memory_id
    ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER unsettled_by_decision AFTER INSERT ON decision
WHEN EXISTS (SELECT 1 FROM suggestion)
BEGIN
    INSERT INTO unsettled SELECT id FROM entity WHERE key = new.left_key AND sense = new.left_sense
    ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER unsettled_by_undone_decision AFTER UPDATE OF undone_at ON decision
WHEN EXISTS (SELECT 1 FROM suggestion)
BEGIN
    INSERT INTO unsettled SELECT id FROM entity WHERE key = new.left_key AND sense = new.left_sense
    ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER unsettled_by_question AFTER INSERT ON conflict
WHEN new.kind = 'entity' AND EXISTS (SELECT 1 FROM suggestion)
BEGIN
    INSERT INTO unsettled VALUES (new.queued_id) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER unsettled_by_answer AFTER UPDATE OF answer ON conflict
WHEN new.kind = 'entity' AND EXISTS (SELECT 1 FROM suggestion)
BEGIN
    INSERT INTO unsettled VALUES (new.queued_id) ON CONFLICT DO NOTHING;
END;

-- A name of a text is looked at again when a row of that name comes, goes or leads elsewhere. Rows of
-- names that no text waits for cost one look into an index.
CREATE TRIGGER unsettled_name_by_row AFTER INSERT ON entity
WHEN EXISTS (SELECT 1 FROM unlinked WHERE key = new.key)
    OR EXISTS (SELECT 1 FROM unlinked_fact WHERE subject_key = new.key)
    OR EXISTS (SELECT 1 FROM unlinked_fact WHERE object_key = new.key)
BEGIN
    INSERT INTO unsettled_name VALUES (new.key) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER unsettled_name_by_fold AFTER UPDATE OF canonical_id ON entity
WHEN old.canonical_id <> new.canonical_id AND (
    EXISTS (SELECT 1 FROM unlinked WHERE key = new.key)
    OR EXISTS (SELECT 1 FROM unlinked_fact WHERE subject_key = new.key)
    OR EXISTS (SELECT 1 FROM unlinked_fact WHERE object_key = new.key))
BEGIN
    INSERT INTO unsettled_name VALUES (new.key) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER unsettled_name_by_deletion AFTER DELETE ON entity
WHEN EXISTS (SELECT 1 FROM unlinked WHERE key = old.key)
    OR EXISTS (SELECT 1 FROM unlinked_fact WHERE subject_key = old.key)
    OR EXISTS (SELECT 1 FROM unlinked_fact WHERE object_key = old.key)
BEGIN
    INSERT INTO unsettled_name VALUES (old.key) ON CONFLICT DO NOTHING;
END;

CREATE TRIGGER unsettled_name_by_counted_memory AFTER DELETE ON uncounted
BEGIN
    INSERT INTO unsettled_name SELECT DISTINCT key FROM unlinked WHERE memory_id = old.memory_id
    ON CONFLICT DO NOTHING;
END;

-- Hashed keys of names (64 bits, signed). A full pass writes them all, sorted, as pages of pairs:
-- fifteen million rows would take a minute. What has come since stands beside, a row a key.
CREATE TABLE name_page (
    page      INTEGER PRIMARY KEY,
    first_key INTEGER NOT NULL,
    pairs     BLOB NOT NULL               -- the keys, then the entity ids, each 8 bytes, little endian
);
CREATE INDEX name_page_key ON name_page (first_key, page);

CREATE TABLE name_index (
    key       INTEGER NOT NULL,
    entity_id INTEGER NOT NULL,
    PRIMARY KEY (key, entity_id)
) WITHOUT ROWID;

-- The words of names, for a person's search: in Latin letters without marks; written with their rows.
-- A row is found by its words, words by their beginning or by three letters in a row.
CREATE TABLE word (
    id   INTEGER PRIMARY KEY,
    word TEXT NOT NULL UNIQUE
);
CREATE VIRTUAL TABLE word_part USING fts5 (
    word, content = 'word', content_rowid = 'id', tokenize = 'trigram', detail = none, columnsize = 0
);

-- Shortest names first, so that whoever reads a few of a common word's rows reads the nearest.
CREATE TABLE word_of (
    word_id   INTEGER NOT NULL,
    letters   INTEGER NOT NULL,           -- of the whole name
    entity_id INTEGER NOT NULL,
    PRIMARY KEY (word_id, letters, entity_id)
) WITHOUT ROWID;

-- The words of what memories say, and of that alone, for recall by exact words. It holds no text of its
-- own: who deletes gives the words again (see store/memories.py).
CREATE VIRTUAL TABLE memory_words USING fts5 (
    words, content = '', tokenize = "unicode61 remove_diacritics 2"
);

-- Where texts and names lie in the space of one embedding model. While one is changed for another there
-- are two spaces; 'space' in meta is the one that serves. A code is the signs of a vector's numbers, a
-- bit each: all codes are read to find what is near, and vectors of what is near alone. Ids of codes grow
-- in writing order, so that whoever has read all can read on from there.
CREATE TABLE space (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    model      TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    memories_through INTEGER NOT NULL DEFAULT 0,  -- up to that id each has its vector
    names_through    INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL,
    UNIQUE (model, dimensions)                -- of one model there may be several sizes
);
CREATE TABLE memory_code (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    space_id  INTEGER NOT NULL REFERENCES space(id) ON DELETE CASCADE,
    memory_id INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
    code      BLOB NOT NULL,
    UNIQUE (space_id, memory_id)
);
CREATE INDEX memory_code_memory ON memory_code (memory_id);
CREATE TABLE memory_vector (
    id     INTEGER PRIMARY KEY REFERENCES memory_code(id) ON DELETE CASCADE,
    vector BLOB NOT NULL                  -- half-precision floats, little endian, of length 1
);
CREATE TABLE name_code (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    space_id  INTEGER NOT NULL REFERENCES space(id) ON DELETE CASCADE,
    entity_id INTEGER NOT NULL REFERENCES entity(id) ON DELETE CASCADE,
    code      BLOB NOT NULL,
    UNIQUE (space_id, entity_id)
);
CREATE INDEX name_code_entity ON name_code (entity_id);
CREATE TABLE name_vector (
    id     INTEGER PRIMARY KEY REFERENCES name_code(id) ON DELETE CASCADE,
    vector BLOB NOT NULL
);

-- The types and predicates that extraction may use; those of enfold are rows like a person's own.
CREATE TABLE term (
    kind        TEXT NOT NULL CHECK (kind IN ('type', 'predicate')),
    name        TEXT NOT NULL,
    description TEXT NOT NULL,
    enabled     INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (kind, name)
) WITHOUT ROWID;
INSERT INTO term (kind, name, description) VALUES
    ('type', 'person', 'A human being.'),
    ('type', 'organization', 'A company, team, agency or other group of people.'),
    ('type', 'project', 'A piece of work with a name and an end.'),
    ('type', 'tool', 'A program or service that is used to get something done.'),
    ('type', 'technology', 'A language, protocol, library, model or method.'),
    ('type', 'agent', 'A program that acts and remembers by itself.'),
    ('type', 'place', 'A location: a city, country, building, room.'),
    ('type', 'event', 'Something that happens at a time: a meeting, a release, an outage.'),
    ('type', 'concept', 'An idea or subject that none of the others fits.'),
    ('predicate', 'uses', 'The subject makes use of the object.'),
    ('predicate', 'depends_on', 'The subject can''t work without the object.'),
    ('predicate', 'part_of', 'The subject belongs to the object as a piece of it.'),
    ('predicate', 'created_by', 'The subject was made by the object.'),
    ('predicate', 'works_on', 'The subject, a person or agent, works on the object.'),
    ('predicate', 'works_at', 'The subject, a person, is employed by or a member of the object.'),
    ('predicate', 'located_in', 'The subject lies or lives in the object, a place.'),
    ('predicate', 'attended', 'The subject, a person, was at the object, an event.');

CREATE TABLE run (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    kind       TEXT NOT NULL,
    started_at TEXT NOT NULL,
    ended_at   TEXT,
    report     TEXT NOT NULL DEFAULT '{}',
    backup     TEXT,
    error      TEXT
);

CREATE TABLE set_aside (
    run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
    source TEXT NOT NULL,
    line   INTEGER NOT NULL,
    reason TEXT NOT NULL,
    text   TEXT NOT NULL
);
CREATE INDEX set_aside_run ON set_aside (run_id);

-- One row a setting: the frozen context, the edge counter, the last mention that open_pair counts,
-- the versions of names and rules.
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
-- edge: the last id of a mention or fact; settled, examined, indexed: the last mention whose weight is
-- in open_pair, the last row of a pass, the last row in name_index; words: the version that made them.
INSERT INTO meta VALUES
    ('edge', '0'), ('settled', '0'), ('examined', '0'), ('indexed', '0'), ('words', '');

-- Where each mention ends now, and which count: of one memory's mentions with one end the lowest id.
CREATE VIEW mention_counted AS
SELECT min(m.id) AS id, m.memory_id, e.canonical_id AS entity_id
FROM mention m
JOIN entity e ON e.id = m.asserted_id
WHERE NOT EXISTS (SELECT 1 FROM uncounted x WHERE x.memory_id = m.memory_id)
GROUP BY m.memory_id, e.canonical_id;

-- The same of facts. A fact of a thing with itself never counts. Facts between entities stand apart
-- from those with a literal, so that either end is found by its index.
CREATE VIEW link_counted AS
SELECT min(f.id) AS id, f.memory_id, s.canonical_id AS subject_id, f.predicate,
       o.canonical_id AS object_id, max(f.confidence) AS confidence
FROM fact f
JOIN entity s ON s.id = f.subject_id
JOIN entity o ON o.id = f.object_id
WHERE s.canonical_id <> o.canonical_id
  AND NOT EXISTS (SELECT 1 FROM uncounted x WHERE x.memory_id = f.memory_id)
GROUP BY f.memory_id, s.canonical_id, f.predicate, o.canonical_id;

CREATE VIEW literal_counted AS
SELECT min(f.id) AS id, f.memory_id, s.canonical_id AS subject_id, f.predicate, f.literal,
       max(f.confidence) AS confidence
FROM fact f
JOIN entity s ON s.id = f.subject_id
WHERE f.literal IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM uncounted x WHERE x.memory_id = f.memory_id)
GROUP BY f.memory_id, s.canonical_id, f.predicate, f.literal;

-- What each entity is called: its latest rename that is still in its cluster, else its own spelling.
CREATE VIEW shown AS
SELECT e.id AS root_id, coalesce(
    (SELECT s.spelling FROM renaming r JOIN entity s ON s.id = r.shown_id
     WHERE r.root_id = e.id AND s.canonical_id = e.id ORDER BY r.id DESC LIMIT 1),
    e.spelling) AS name
FROM entity e
WHERE e.folded_into IS NULL;

-- Pairs of entities that a live decision keeps apart, both ways round.
CREATE VIEW apart AS
SELECT d.id AS decision_id, l.canonical_id AS left_id, r.canonical_id AS right_id
FROM decision d
JOIN entity l ON l.key = d.left_key AND l.sense = d.left_sense
JOIN entity r ON r.key = d.right_key AND r.sense = d.right_sense
WHERE d.undone_at IS NULL AND l.canonical_id <> r.canonical_id
UNION ALL
SELECT d.id, r.canonical_id, l.canonical_id
FROM decision d
JOIN entity l ON l.key = d.left_key AND l.sense = d.left_sense
JOIN entity r ON r.key = d.right_key AND r.sense = d.right_sense
WHERE d.undone_at IS NULL AND l.canonical_id <> r.canonical_id;
