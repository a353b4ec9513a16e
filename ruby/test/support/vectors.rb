# frozen_string_literal: true

# The files of spec/vectors, and the one that Ruby writes.
module Vectors
  FOLDER = File.expand_path("../../../spec/vectors", __dir__)
  OWN_ENCRYPTED = File.join(FOLDER, "encrypted.ruby.json")
  OWN = File.join(FOLDER, "entries.ruby.json")
  CREATED = 1_700_000_000_000

  # Levels are a matter of the writer; one shows that Ruby can.
  COMPRESSORS = { "none" => "none", "zstd 1" => "zstd:1" }.freeze

  # Facts of a header that values.json does not vary.
  HEADERS = {
    "expires" => { expires: CREATED + 60_000 },
    "fresh until" => { fresh_until: CREATED + 30_000 },
    "three tags" => { tags: [["users", 7], ["", 0], ["shop:é", (2**64) - 1]] },
    "everything, zstd 3" => {
      expires: CREATED + 60_000, fresh_until: CREATED + 30_000, tags: [["users", 7]],
      compressor: "zstd"
    }
  }.freeze

  module_function

  # The rows of a file.
  def rows(name) = JSON.parse(File.read(File.join(FOLDER, name)), max_nesting: false)

  # What Ruby writes: every value in every serializer that takes it.
  def own_text
    lines = rows("values.json").flat_map do |row|
      row["serializers"].product(COMPRESSORS.to_a).map do |serializer, (title, compressor)|
        name = "#{row["name"]}, #{serializer}, #{title}"
        line(name, row["value"], serializer: serializer, compressor: compressor)
      end
    end
    lines += HEADERS.map { |name, header| line(name, "a value", **header) }
    "[\n#{lines.join(",\n")}\n]\n"
  end

  # The keys of a row, which may have none.
  def keys(row)
    row["encryption"]&.map { |one| { id: one["id"], key: [one["key"]].pack("H*") } }
  end

  def full_key(row) = [row["full_key"]].pack("H*")

  # The rows of encryption.json as Ruby encrypts them; with other nonces each time.
  def encrypted_rows
    rows("encryption.json").map do |row|
      facts = row.slice("serializer", "compressor", "created", "expires", "fresh_until")
      header = facts.transform_keys(&:to_sym).merge(
        tags: row["tags"].map { |tag, generation| [tag, Integer(generation)] },
        encryption: keys(row), full_key: full_key(row)
      )
      entry = Polycache::Native.encode_entry(Tagged.load(row["value"]), header)
      row.merge("entry" => entry.unpack1("H*"))
    end
  end

  def own_encrypted_text
    lines = encrypted_rows.map { |row| JSON.generate(row) }
    "[\n#{lines.join(",\n")}\n]\n"
  end

  def line(name, tagged, **header)
    header = {
      serializer: "messagepack", compressor: "none", created: CREATED, expires: 0,
      fresh_until: nil, tags: []
    }.merge(header)
    value = Tagged.load(tagged)
    plain = { encryption: nil, full_key: "" }
    entry = Polycache::Native.encode_entry(value, header.merge(plain))
    JSON.generate(
      {
        name: name, entry: entry.unpack1("H*"), **header,
        compressor: header[:compressor].split(":").first,
        tags: header[:tags].map { |tag, generation| [tag, generation.to_s] },
        # Long texts stay short; a decimal gets the form that Ruby writes.
        value: Tagged.repeat?(tagged) ? tagged : Tagged.dump(value)
      },
      max_nesting: 0
    )
  end
end
