# frozen_string_literal: true

require_relative "../errors"
require_relative "../memory/duration"

module Polycache
  module HTTP
    # The field Cache-Control (RFC 9111 5.2, RFC 5861, RFC 8246).
    # @api private
    module CacheControl
      OPTIONS = %i[
        visibility max_age shared_max_age stale_while_revalidate stale_if_error no_cache no_store
        must_revalidate immutable
      ].freeze
      # In this order.
      FLAGS = { no_cache: "no-cache", no_store: "no-store", must_revalidate: "must-revalidate",
                immutable: "immutable" }.freeze
      TIMES = { max_age: "max-age", shared_max_age: "s-maxage",
                stale_while_revalidate: "stale-while-revalidate",
                stale_if_error: "stale-if-error" }.freeze
      private_constant :OPTIONS, :FLAGS, :TIMES

      module_function

      # @param control [Hash] what Policy.new says
      # @return [String]
      # @raise [InvalidArgument]
      def text(control)
        # Merged first: in a Hash of Rails all names would become text again.
        control = {}.merge(control).transform_keys(&:to_sym).compact
        check(control)
        flags = FLAGS.filter_map { |name, directive| directive if control[name] }
        times = TIMES.filter_map do |name, directive|
          "#{directive}=#{seconds(name, control[name])}" if control.key?(name)
        end
        directives = [*control[:visibility], *flags, *times]
        raise InvalidArgument, "cache_control has no directive" if directives.empty?

        directives.join(", ")
      end

      def check(control)
        unknown = control.keys - OPTIONS
        unless unknown.empty?
          raise InvalidArgument, "unknown directive #{unknown.join(", ")}: there are " \
                                 "#{OPTIONS.join(", ")}"
        end
        unless [nil, "public", "private"].include?(control[:visibility]&.to_s)
          raise InvalidArgument, "visibility is \"public\" or \"private\""
        end
        return unless control[:no_store] && control.size > 1

        raise InvalidArgument, "no_store stands alone: what nobody stores has no age"
      end

      # Times are told in whole seconds, so they are rounded down.
      def seconds(name, duration)
        return 0 if duration.is_a?(Numeric) && duration.zero?

        Memory::Duration.milliseconds(name.name, duration) / 1000
      end

      private_class_method :check, :seconds
    end
    private_constant :CacheControl
  end
end
